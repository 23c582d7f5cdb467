// Files that nothing uses: sources that no build globs or names, headers that nobody includes,
// scripts that no entry point reaches.
import path from 'node:path';

import { isCmake, isCpp, isJs } from './tree.js';

/** @import { Problem, Tree } from './tree.js' */

// Where a script starts by being named on a command line or found by a runner.
const entryPoints = [
  /\.test\.[cm]?js$/,
  /^tests\/types\//,
  /^tools\/checks\/main\.js$/,
  /^tools\/count-results\.js$/,
  /^(demo|bench)\/(server|main)\.js$/,
  /^examples\/js\//,
  /\.config\.js$/,
];

const includeLine = /#\s*include\s*["<]([^">]+)[">]/g;

/** @param {Tree} tree @param {string} file */
function isBuilt(tree, file) {
  const name = path.posix.basename(file);
  for (let folder = path.posix.dirname(file); ; folder = path.posix.dirname(folder)) {
    const list = folder === '.' ? 'CMakeLists.txt' : `${folder}/CMakeLists.txt`;
    if (tree.files.includes(list)) {
      const text = tree.read(list);
      if (/millrace_room\(|file\(\s*GLOB/.test(text) || text.includes(name)) return true;
      const stem = path.posix.basename(file, '.cc');
      return new RegExp(`\\b${stem}\\b`).test(text);
    }
    if (folder === '.') return false;
  }
}

/** @param {Tree} tree @returns {Set<string>} names as they stand in #include lines */
function includedNames(tree) {
  const names = new Set();
  for (const file of tree.files.filter(isCpp)) {
    for (const [, name] of tree.read(file).matchAll(includeLine)) {
      if (name === file || `include/${name}` === file) continue;
      names.add(name);
      names.add(path.posix.join(path.posix.dirname(file), name));
    }
  }
  return names;
}

/**
 * Files of the tree that `file` names in strings.
 * @param {Tree} tree
 * @param {string} file
 */
function referencesOf(tree, file) {
  /** @type {string[]} */
  const found = [];
  for (const [, name] of tree.read(file).matchAll(/['"`]([\w./-]+\.[cm]?js)['"`]/g)) {
    for (const base of [path.posix.dirname(file), '.']) {
      const target = path.posix.normalize(path.posix.join(base, name));
      if (tree.files.includes(target)) found.push(target);
    }
  }
  return found;
}

/** @param {Tree} tree @returns {Set<string>} */
function reachedScripts(tree) {
  const queue = tree.files.filter((file) => entryPoints.some((entry) => entry.test(file)));
  for (const file of tree.files) {
    if (path.posix.basename(file) === 'package.json' || isCmake(file) || file.endsWith('.html')) {
      queue.push(...referencesOf(tree, file));
    }
  }
  const reached = new Set();
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    queue.push(...referencesOf(tree, file));
  }
  return reached;
}

/** @param {Tree} tree @returns {Problem[]} */
export function checkDeadFiles(tree) {
  const included = includedNames(tree);
  const reached = reachedScripts(tree);
  /** @type {Problem[]} */
  const problems = [];
  /** @param {string} file @param {string} message */
  const dead = (file, message) => problems.push({ file, line: 1, rule: 'dead-files', message });
  for (const file of tree.files) {
    if (file.endsWith('.cc') && !isBuilt(tree, file))
      dead(file, 'no CMakeLists.txt builds this file');
    if (file.endsWith('.h')) {
      const name = file.startsWith('include/') ? file.slice('include/'.length) : file;
      // The umbrella header is for embedders.
      if (!included.has(name) && name !== 'millrace/millrace.h')
        dead(file, 'nobody includes this header');
    }
    if (isJs(file) && !reached.has(file)) dead(file, 'no entry point or test reaches this file');
  }
  return problems;
}
