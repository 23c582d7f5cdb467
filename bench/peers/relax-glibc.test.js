import assert from 'node:assert/strict';
import { test } from 'node:test';

import { relaxGlibc } from './relax-glibc.mjs';

// A shared object of what the loader looks at: symbols, their versions, and the needed versions.
function buildElf(symbols, needs) {
  let names = '\0';
  const nameOffset = (text) => {
    const offset = names.length;
    names += `${text}\0`;
    return offset;
  };
  const dynsym = Buffer.alloc(24 * (symbols.length + 1));
  const versym = Buffer.alloc(2 * (symbols.length + 1));
  symbols.forEach(({ name, index }, i) => {
    dynsym.writeUInt32LE(nameOffset(name), 24 * (i + 1));
    versym.writeUInt16LE(index, 2 * (i + 1));
  });
  const verneed = Buffer.alloc(16 + 16 * needs.length);
  verneed.writeUInt16LE(1, 0);
  verneed.writeUInt16LE(needs.length, 2);
  verneed.writeUInt32LE(16, 8);
  needs.forEach(({ name, index }, i) => {
    const at = 16 + 16 * i;
    verneed.writeUInt16LE(index, at + 6);
    verneed.writeUInt32LE(nameOffset(name), at + 8);
    verneed.writeUInt32LE(i + 1 < needs.length ? 16 : 0, at + 12);
  });
  const contents = [Buffer.alloc(0), Buffer.from(names, 'latin1'), dynsym, versym, verneed];
  const types = [0, 3, 11, 0x6fffffff, 0x6ffffffe];
  return layOut(contents, types);
}

function layOut(contents, types) {
  const header = Buffer.alloc(64);
  header.write('\x7fELF\x02\x01', 'latin1');
  const table = Buffer.alloc(64 * contents.length);
  let offset = header.length;
  contents.forEach((content, i) => {
    table.writeUInt32LE(types[i], 64 * i + 4);
    table.writeBigUInt64LE(BigInt(offset), 64 * i + 24);
    table.writeBigUInt64LE(BigInt(content.length), 64 * i + 32);
    table.writeUInt32LE(1, 64 * i + 40); // the names
    table.writeUInt32LE(types[i] === 0x6ffffffe ? 1 : 0, 64 * i + 44);
    offset += content.length;
  });
  header.writeBigUInt64LE(BigInt(offset), 0x28);
  header.writeUInt16LE(64, 0x3a);
  header.writeUInt16LE(contents.length, 0x3c);
  return Buffer.concat([header, ...contents, table]);
}

const needs = [
  { name: 'GLIBC_2.17', index: 2 },
  { name: 'GLIBC_2.38', index: 3 },
];
const namesAt = 64;

// The section table is at the end of the file.
function symbolName(elf, number) {
  const dynsym = Number(elf.readBigUInt64LE(elf.length - 64 * 3 + 24));
  const start = namesAt + elf.readUInt32LE(dynsym + 24 * number);
  return elf.toString('latin1', start, elf.indexOf(0, start));
}

function versionIndex(elf, number) {
  const versym = Number(elf.readBigUInt64LE(elf.length - 64 * 2 + 24));
  return elf.readUInt16LE(versym + 2 * number);
}

function needFlags(elf, number) {
  const verneed = Number(elf.readBigUInt64LE(elf.length - 64 + 24));
  return elf.readUInt16LE(verneed + 16 + 16 * number + 4);
}

test('new names become the old ones, and the need weak', () => {
  const elf = buildElf(
    [
      { name: 'malloc', index: 2 },
      { name: '__isoc23_strtol', index: 3 },
      { name: '__isoc23_sscanf', index: 3 },
    ],
    needs,
  );
  assert.deepEqual(relaxGlibc(elf), ['strtol', 'sscanf']);
  assert.equal(symbolName(elf, 1), 'malloc');
  assert.equal(symbolName(elf, 2), 'strtol');
  assert.equal(symbolName(elf, 3), 'sscanf');
  assert.deepEqual(
    [1, 2, 3].map((number) => versionIndex(elf, number)),
    [2, 1, 1],
  );
  assert.equal(needFlags(elf, 0), 0);
  assert.equal(needFlags(elf, 1), 2);
});

test('a file that needs nothing new stays as it is', () => {
  const elf = buildElf([{ name: 'malloc', index: 2 }], needs.slice(0, 1));
  const before = Buffer.from(elf);
  assert.deepEqual(relaxGlibc(elf), []);
  assert.ok(elf.equals(before));
});

test('a file that needs another new function is refused', () => {
  const elf = buildElf([{ name: 'strlcpy', index: 3 }], needs);
  assert.throws(() => relaxGlibc(elf), /strlcpy exists only since GLIBC_2.38/);
});

test('only ELF files are accepted', () => {
  assert.throws(() => relaxGlibc(Buffer.alloc(128)), /not a little-endian 64-bit ELF file/);
});
