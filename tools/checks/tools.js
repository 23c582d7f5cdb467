// The checks that are programs of others: clang-format, prettier, eslint, tsc, clang-tidy.
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { run } from './run.js';
import { isCpp, isJs } from './tree.js';

/** @import { Problem, Tree } from './tree.js' */

const prettierFiles = /\.([cm]?js|d\.ts|ts|json|css|html|ya?ml)$/;
const binFolder = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url));

/** @param {Tree} tree */
const prettierTargets = (tree) =>
  tree.files.filter((file) => prettierFiles.test(file) && !file.endsWith('package-lock.json'));

/**
 * Turns lines "file:line:column: text" into problems, one for each file and line.
 * @param {Tree} tree
 * @param {string} output
 * @param {RegExp} pattern with groups file, line, text
 * @param {string} rule
 * @returns {Problem[]}
 */
function problemsOf(tree, output, pattern, rule) {
  /** @type {Map<string, Problem>} */
  const found = new Map();
  for (const { groups = {} } of output.matchAll(pattern)) {
    const file = path.relative(tree.root, path.resolve(tree.root, groups.file));
    const line = Number(groups.line);
    found.set(`${file}:${line}`, { file, line, rule, message: groups.text });
  }
  return [...found.values()];
}

/**
 * A tool that fails without a line that we understand has broken down.
 * @param {string} name
 * @param {string} output
 */
function breakdown(name, output) {
  return new Error(`${name} failed:\n${output}`);
}

/** @param {Tree} tree @returns {Promise<Problem[]>} */
export async function checkClangFormat(tree) {
  const files = tree.files.filter(isCpp);
  if (files.length === 0) return [];
  const { status, output } = await run(tree.root, 'clang-format', [
    '--dry-run',
    '-Werror',
    ...files,
  ]);
  const lines = /^(?<file>[^\s:]+):(?<line>\d+):\d+: error: (?<text>.*) \[.*\]$/gm;
  const problems = problemsOf(tree, output, lines, 'clang-format');
  if (status !== 0 && problems.length === 0) throw breakdown('clang-format', output);
  // The first place of a file is enough: --fix mends them all.
  return problems.filter(({ file }, index) => problems.findIndex((p) => p.file === file) === index);
}

/** @param {Tree} tree @returns {Promise<Problem[]>} */
export async function checkPrettier(tree) {
  const args = ['--list-different', ...prettierTargets(tree)];
  const { status, output } = await run(tree.root, `${binFolder}/prettier`, args);
  const files = output.split('\n').filter((line) => tree.has(line) && line !== '');
  if (status !== 0 && (status !== 1 || files.length === 0)) throw breakdown('prettier', output);
  return files.map((file) => {
    return { file, line: 1, rule: 'prettier', message: 'not formatted: tools/check --fix' };
  });
}

/** @param {Tree} tree @returns {Promise<Problem[]>} */
export async function checkEslint(tree) {
  const args = ['--format', 'json', ...tree.files.filter(isJs)];
  const { status, output } = await run(tree.root, `${binFolder}/eslint`, args);
  if (status > 1) throw breakdown('eslint', output);
  /** @typedef {{ line?: number, ruleId: string, message: string }} Message */
  /** @type {{ filePath: string, messages: Message[] }[]} */
  const results = JSON.parse(output.slice(output.indexOf('[')));
  return results.flatMap(({ filePath, messages }) =>
    messages.map(({ line = 1, ruleId, message }) => {
      const rule = ruleId === 'max-lines-per-function' ? 'function-length' : (ruleId ?? 'eslint');
      return { file: path.relative(tree.root, filePath), line, rule, message };
    }),
  );
}

/** The parameters of js/ have their types in js/types; the rest says its own. */
const typeProjects = ['.', 'js'];

/** @param {Tree} tree @returns {Promise<Problem[]>} */
export async function checkTypes(tree) {
  const runs = typeProjects.map((project) =>
    run(tree.root, `${binFolder}/tsc`, ['-p', project, '--pretty', 'false']),
  );
  const results = await Promise.all(runs);
  const output = results.map((result) => result.output).join('\n');
  const problems = problemsOf(
    tree,
    output,
    /^(?<file>[^\s(]+)\((?<line>\d+),\d+\): error (?<text>.*)$/gm,
    'types',
  );
  const failed = results.some(({ status }) => status !== 0);
  if (failed && problems.length === 0) throw breakdown('tsc', output);
  return problems;
}

/** @param {Tree} tree @returns {Promise<Problem[]>} */
export async function checkTidy(tree) {
  const files = tree.files.filter((file) => /^(core|node)\/.*\.cc$/.test(file));
  const runs = files.map((file) =>
    run(tree.root, 'clang-tidy', ['--quiet', '-p', 'build/dev', file]),
  );
  const lines = /^(?<file>[^\s:]+):(?<line>\d+):\d+: (?:warning|error): (?<text>.*)$/gm;
  const outputs = (await Promise.all(runs)).map(({ output }) => output).join('\n');
  return problemsOf(tree, outputs, lines, 'clang-tidy');
}

/** Lets the tools mend what they can. @param {Tree} tree */
export async function fixFormat(tree) {
  await run(tree.root, `${binFolder}/eslint`, ['--fix', ...tree.files.filter(isJs)]);
  const { status, output } = await run(tree.root, `${binFolder}/prettier`, [
    '--write',
    ...prettierTargets(tree),
  ]);
  if (status !== 0) process.stderr.write(output);
  await run(tree.root, 'clang-format', ['-i', ...tree.files.filter(isCpp)]);
}
