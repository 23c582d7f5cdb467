// Comments: no work left undone without a kind, no code that is commented out.
import { commentsOf } from './cpp-text.js';
import { isCmake, isCpp, isShell } from './tree.js';

/** @import { Problem, Tree } from './tree.js' */

/** The closed list of kinds, as in `TODO(perf): reason`. */
export const todoKinds = ['perf', 'limit', 'platform'];

const codeShapes = [
  /^[\w:<>,&* ]*\b[\w.:]+(->[\w.:]+)*\s*([-+|&]?=[^=].*|\([^.]*\)|\+\+|--)\s*;$/,
  /^(return|break|continue|throw|delete|goto)\b[^.]*;$/,
  /^(if|for|while|switch)\s*\(.*\)\s*(\{|[^.]*;)$/,
  /^\}?\s*else\b.*\{$/,
  /^[{}][;,)]*$/,
  /^#\s*(include|define|if|ifdef|ifndef|endif|pragma)\b/,
  /^(const|let|var)\s+[\w{[][^.]*=/,
  /^import\s+.*\bfrom\s+['"]/,
  /^(export\s+)?(async\s+)?function\b.*\{$/,
];

/**
 * What is wrong with one line of comment, or ''. An indent of four spaces marks an example of use.
 * @param {string} comment without its opening characters
 */
export function faultOfComment(comment) {
  const mark = /\b(TODO|FIXME|XXX)\b(?:\((\w+)\))?/.exec(comment);
  if (mark && (mark[1] !== 'TODO' || !todoKinds.includes(mark[2]))) {
    return `${mark[1]} without a kind: write TODO(${todoKinds.join('|')}) and the reason`;
  }
  if (/^ {4}/.test(comment)) return '';
  const text = comment.trim();
  return codeShapes.some((shape) => shape.test(text)) ? 'commented-out code' : '';
}

/** @param {string} source */
function hashComments(source) {
  return source.split('\n').flatMap((text, index) => {
    const found = /^\s*#(?!!)(.*)$/.exec(text);
    return found ? [{ line: index + 1, text: found[1], alone: true }] : [];
  });
}

/**
 * JavaScript is left to eslint, which asks faultOfComment() too.
 * @param {Tree} tree
 * @returns {Problem[]}
 */
export function checkComments(tree) {
  /** @type {Problem[]} */
  const problems = [];
  for (const file of tree.files) {
    let comments;
    if (isCpp(file)) comments = commentsOf(tree.read(file));
    else if (isShell(file) || isCmake(file)) comments = hashComments(tree.read(file));
    else continue;
    for (const { line, text } of comments) {
      const message = faultOfComment(text);
      if (message) problems.push({ file, line, rule: 'comments', message });
    }
  }
  return problems;
}
