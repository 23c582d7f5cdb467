// Lengths: columns, lines of a file, lines of a function. JavaScript functions are left to eslint.
import { functionsOf } from './cpp-text.js';
import { isCmake, isCpp, isJs, isShell } from './tree.js';

/** @import { Problem, Tree } from './tree.js' */

export const columnsMax = 100;
export const proseColumnsMax = 120;
export const fileLinesMax = 500;
export const functionLinesMax = 70;

/** @param {string} file @param {string} text @returns {Problem[]} */
function longLines(file, text) {
  const prose = file.endsWith('.md');
  const max = prose ? proseColumnsMax : columnsMax;
  /** @type {Problem[]} */
  const problems = [];
  text.split('\n').forEach((line, index) => {
    // Tables and addresses cannot be broken.
    if (line.length <= max || (prose && /^\s*\||https?:\/\//.test(line))) return;
    const columns = [...line].length;
    if (columns <= max) return;
    const message = `${columns} columns; at most ${max}`;
    problems.push({ file, line: index + 1, rule: 'columns', message });
  });
  return problems;
}

/** @param {string} file @param {string} text @returns {Problem[]} */
function longFunctions(file, text) {
  return functionsOf(text)
    .filter(({ lines }) => lines > functionLinesMax)
    .map(({ line, lines }) => ({
      file,
      line,
      rule: 'function-length',
      message: `a function of ${lines} lines; at most ${functionLinesMax}`,
    }));
}

/** @param {Tree} tree @returns {Problem[]} */
export function checkSizes(tree) {
  /** @type {Problem[]} */
  const problems = [];
  for (const file of tree.files) {
    const source = isCpp(file) || isJs(file) || isShell(file) || isCmake(file);
    if (!source && !file.endsWith('.md')) continue;
    const text = tree.read(file);
    problems.push(...longLines(file, text));
    const lines = text.split('\n').length - 1;
    if (source && lines > fileLinesMax) {
      const message = `${lines} lines; at most ${fileLinesMax}`;
      problems.push({ file, line: fileLinesMax + 1, rule: 'file-length', message });
    }
    if (isCpp(file)) problems.push(...longFunctions(file, text));
  }
  return problems;
}
