// The files that the checks look at, and the form of what they find.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** @typedef {{ file: string, line: number, rule: string, message: string }} Problem */

/**
 * Paths are relative to the root, with '/'.
 * @typedef {{
 *   root: string,
 *   files: string[],
 *   read: (file: string) => string,
 *   has: (file: string) => boolean,
 * }} Tree
 */

/**
 * What git knows or would add, as it lies in the working tree.
 * @param {string} root
 * @returns {Tree}
 */
export function checkoutTree(root) {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  const files = [...new Set(listed.split('\0'))]
    .filter((file) => file !== '' && existsSync(path.join(root, file)))
    .sort();
  /** @type {Map<string, string>} */
  const texts = new Map();
  return {
    root,
    files,
    read(file) {
      let text = texts.get(file);
      if (text === undefined) {
        text = readFileSync(path.join(root, file), 'utf8');
        texts.set(file, text);
      }
      return text;
    },
    has: (file) => existsSync(path.join(root, file)),
  };
}

/**
 * A tree of the given texts, for tests.
 * @param {Record<string, string>} texts
 * @returns {Tree}
 */
export function memoryTree(texts) {
  const files = Object.keys(texts).sort();
  return {
    root: '/nowhere',
    files,
    read: (file) => texts[file],
    has: (file) => files.some((known) => known === file || known.startsWith(`${file}/`)),
  };
}

/** @param {string} file */
export const isCpp = (file) => /\.(h|cc)$/.test(file);

/** @param {string} file */
export const isJs = (file) => /\.[cm]?js$/.test(file);

/** @param {string} file */
export const isShell = (file) => /\.sh$|^millrace$|^tools\/check$|^\.ci\/run$/.test(file);

/** @param {string} file */
export const isCmake = (file) => /\.cmake$|(^|\/)CMakeLists\.txt$/.test(file);

/** @param {string} text @param {number} offset */
export function lineAt(text, offset) {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
  }
  return line;
}
