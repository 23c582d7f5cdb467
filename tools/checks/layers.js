// The layer rule: #include and import lines against the table.
import path from 'node:path';

import { doors, rooms, testRooms } from './layer-table.js';
import { isCpp, isJs, lineAt } from './tree.js';

/** @import { Room } from './layer-table.js' */
/** @import { Problem, Tree } from './tree.js' */

const includeLine = /^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]/gm;
const importLine =
  /(?:^|\n)[^\n/*]*?(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"])([^'"\n]+)\1/g;

/**
 * The room with the longest name that holds `file`.
 * @param {string} file
 * @returns {Room | undefined}
 */
export function roomOf(file) {
  return rooms
    .filter(({ room }) => file === room || file.startsWith(`${room}/`))
    .sort((a, b) => b.room.length - a.room.length)[0];
}

/**
 * @param {string} file that has the line
 * @param {string} target path from the root of what it names
 * @returns {string} what is wrong, or ''
 */
function faultOfUse(file, target) {
  const from = roomOf(file);
  const to = roomOf(target);
  if (!from) return `${file} has no row in tools/checks/layer-table.js`;
  if (!to) return `${target} is in no room`;
  const allowed = [from.room, ...from.uses];
  if (file.endsWith('_test.cc')) allowed.push(...testRooms);
  return allowed.includes(to.room) ? '' : `${from.room} must not use ${to.room} (${target})`;
}

/** @param {string} file @param {string} header */
function faultOfSystemHeader(file, header) {
  const door = doors.find((entry) => entry.header.test(header));
  if (!door || door.doors.some((place) => place.test(file))) return '';
  const places = door.doors.map((place) => place.source).join(', ');
  return `<${header}> may only be included in ${places}`;
}

/** @param {Tree} tree @param {string} file @param {string} quote @param {string} name */
function faultOfInclude(tree, file, quote, name) {
  if (name.startsWith('millrace/')) return faultOfUse(file, `include/${name}`);
  if (quote === '<') return faultOfSystemHeader(file, name);
  if (tree.has(name)) return faultOfUse(file, name);
  // Programs of other projects (peers, the install test) have includes of their own.
  if (tree.has(path.posix.join(path.posix.dirname(file), name))) {
    return file.startsWith('core/') || file.startsWith('include/')
      ? `"${name}" is not rooted at the repository`
      : '';
  }
  return faultOfSystemHeader(file, name);
}

/** @param {string} file @param {string} name */
function faultOfImport(file, name) {
  if (name.startsWith('node:')) return '';
  if (name.startsWith('.')) {
    const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), name));
    return /\.[cm]?js$/.test(target) ? faultOfUse(file, target) : '';
  }
  const packages = roomOf(file)?.packages ?? 'any';
  const packageName = name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
  if (packages === 'any' || packages.includes(packageName)) return '';
  return `${roomOf(file)?.room} must not import the package ${packageName}`;
}

/** @param {Tree} tree @returns {Problem[]} */
export function checkLayers(tree) {
  /** @type {Problem[]} */
  const problems = [];
  for (const file of tree.files) {
    if (!isCpp(file) && !isJs(file)) continue;
    if (isJs(file) && !roomOf(file)) continue;
    const text = tree.read(file);
    for (const match of text.matchAll(isCpp(file) ? includeLine : importLine)) {
      const message = isCpp(file)
        ? faultOfInclude(tree, file, match[1], match[2])
        : faultOfImport(file, match[2]);
      const line = lineAt(text, match.index + match[0].length);
      if (message) problems.push({ file, line, rule: 'layers', message });
    }
  }
  return problems;
}
