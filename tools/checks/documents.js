// Prose that names a file of the checkout names one that exists, and so do comments that name a
// document.
import path from 'node:path';

import { isCpp, isJs, lineAt } from './tree.js';

/** @import { Problem, Tree } from './tree.js' */

const topFolders =
  '(?:core|include|node|js|tests|fuzz|bench|examples|docs|tools|demo|cmake|\\.ci|third_party)';
const inBackticks = new RegExp(`\`(${topFolders}/[\\w./-]*)\``, 'g');
const inComment = /\bdocs\/[\w/-]+\.md\b/g;
const link = /\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)/g;
// What a document may call by name although it is made, not written.
const made = /^(build|node_modules|\.cache)\//;

/** @param {string} file @param {string} target @returns {string} path from the root */
function resolve(file, target) {
  return path.posix.normalize(path.posix.join(path.posix.dirname(file), target)).replace(/\/$/, '');
}

/** @param {Tree} tree @returns {Problem[]} */
export function checkDocuments(tree) {
  /** @type {Problem[]} */
  const problems = [];
  /** @param {string} file @param {string} text @param {number} offset @param {string} target */
  const missing = (file, text, offset, target) => {
    const message = `names ${target}, which does not exist`;
    problems.push({ file, line: lineAt(text, offset), rule: 'documents', message });
  };
  for (const file of tree.files.filter((name) => name.endsWith('.md'))) {
    const text = tree.read(file);
    for (const { 1: target, index } of text.matchAll(link)) {
      if (/^[a-z]+:/.test(target)) continue;
      if (!tree.has(resolve(file, target))) missing(file, text, index, target);
    }
    // Other documents may speak of what is to come; these three describe what is.
    if (!['ARCHITECTURE.md', 'README.md', 'STYLE.md'].includes(file)) continue;
    for (const { 1: target, index } of text.matchAll(inBackticks)) {
      const name = target.replace(/\/$/, '');
      if (!made.test(name) && !tree.has(name)) missing(file, text, index, target);
    }
  }
  for (const file of tree.files.filter((name) => isCpp(name) || isJs(name))) {
    const text = tree.read(file);
    for (const { 0: target, index } of text.matchAll(inComment)) {
      // Tests of this check name documents that must not exist.
      if (!tree.has(target) && !file.endsWith('.test.js')) missing(file, text, index, target);
    }
  }
  return problems;
}
