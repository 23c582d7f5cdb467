// Lets a prebuilt addon for glibc 2.38 load on older systems of the same architecture.
//
// Compilers on glibc 2.38 bind strtol() and its relatives to new names (`__isoc23_strtol`), which
// differ from the old functions only for binary literals. Each new name ends with the old one, so
// it is enough to move the symbol's name offset to that ending, to take its version away, and to
// mark the need for GLIBC_2.38 as weak, which the loader forgives.
//
// node bench/peers/relax-glibc.mjs FILE...

import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const prefix = '__isoc23_';
const newVersion = 'GLIBC_2.38';
const sectionDynsym = 11;
const sectionVersym = 0x6fffffff;
const sectionVerneed = 0x6ffffffe;
const versionGlobal = 1; // an undefined symbol with this index takes any version
const flagWeak = 2;

function readSections(elf) {
  const view = new DataView(elf.buffer, elf.byteOffset, elf.byteLength);
  if (view.getUint32(0) !== 0x7f454c46 || elf[4] !== 2 || elf[5] !== 1) {
    throw new Error('not a little-endian 64-bit ELF file');
  }
  const offset = Number(view.getBigUint64(0x28, true));
  const entryBytes = view.getUint16(0x3a, true);
  return Array.from({ length: view.getUint16(0x3c, true) }, (_, i) => {
    const at = offset + i * entryBytes;
    return {
      type: view.getUint32(at + 4, true),
      offset: Number(view.getBigUint64(at + 24, true)),
      size: Number(view.getBigUint64(at + 32, true)),
      link: view.getUint32(at + 40, true),
      info: view.getUint32(at + 44, true),
    };
  });
}

function textAt(elf, offset) {
  return elf.toString('latin1', offset, elf.indexOf(0, offset));
}

/** The needs for newVersion: the offset of each and the index that symbols refer to it by. */
function findNewNeeds(elf, sections) {
  const needs = [];
  const section = sections.find(({ type }) => type === sectionVerneed);
  if (!section) return needs;
  const names = sections[section.link].offset;
  let file = section.offset;
  for (let files = section.info; files > 0; files--) {
    let need = file + elf.readUInt32LE(file + 8);
    for (let count = elf.readUInt16LE(file + 2); count > 0; count--) {
      if (textAt(elf, names + elf.readUInt32LE(need + 8)) === newVersion) {
        needs.push({ offset: need, index: elf.readUInt16LE(need + 6) });
      }
      need += elf.readUInt32LE(need + 12);
    }
    file += elf.readUInt32LE(file + 12);
  }
  return needs;
}

/**
 * Changes `elf`, the bytes of a shared object, in place.
 *
 * @param {Buffer} elf
 * @returns {string[]} the functions that now have their old names; empty if nothing had to change
 * @throws {Error} if the file needs something else from glibc 2.38
 */
export function relaxGlibc(elf) {
  const sections = readSections(elf);
  const needs = findNewNeeds(elf, sections);
  if (needs.length === 0) return [];
  const symbols = sections.find(({ type }) => type === sectionDynsym);
  const versions = sections.find(({ type }) => type === sectionVersym);
  const names = sections[symbols.link].offset;
  const renamed = [];
  for (let i = 0; i < symbols.size / 24; i++) {
    const versionAt = versions.offset + 2 * i;
    const index = elf.readUInt16LE(versionAt) & 0x7fff;
    if (!needs.some((need) => need.index === index)) continue;
    const symbolAt = symbols.offset + 24 * i;
    const nameOffset = elf.readUInt32LE(symbolAt);
    const name = textAt(elf, names + nameOffset);
    if (!name.startsWith(prefix)) throw new Error(`${name} exists only since ${newVersion}`);
    elf.writeUInt32LE(nameOffset + prefix.length, symbolAt);
    elf.writeUInt16LE(versionGlobal, versionAt);
    renamed.push(name.slice(prefix.length));
  }
  for (const { offset } of needs)
    elf.writeUInt16LE(elf.readUInt16LE(offset + 4) | flagWeak, offset + 4);
  return renamed;
}

/** Relaxes a file on disk. Returns what relaxGlibc() returns. */
export function relaxFile(path) {
  const elf = readFileSync(path);
  const renamed = relaxGlibc(elf);
  if (renamed.length > 0) writeFileSync(path, elf);
  return renamed;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const path of process.argv.slice(2)) {
    console.log(`${path}: ${relaxFile(path).join(', ') || 'nothing to change'}`);
  }
}
