// The checks that run programs, over small trees on the disk; and the commands' own messages.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Linter } from 'eslint';

import config from '../../eslint.config.js';
import { checkHeaders } from '../checks/headers.js';
import { run } from '../checks/run.js';
import { checkClangFormat, checkPrettier } from '../checks/tools.js';
import { checkoutTree, memoryTree } from '../checks/tree.js';

/** @import { Tree } from '../checks/tree.js' */

const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** @param {Record<string, string>} texts @param {(tree: Tree) => Promise<void>} use */
async function withTree(texts, use) {
  const root = mkdtempSync(path.join(tmpdir(), 'millrace-check-'));
  try {
    for (const [file, text] of Object.entries(texts)) {
      mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(root, file), text);
    }
    await use({ ...memoryTree(texts), root });
  } finally {
    rmSync(root, { recursive: true });
  }
}

test('a header that needs another one before it is named, with its line', async () => {
  const texts = {
    'core/base/good.h': '#pragma once\n#include <string>\nstd::string name();\n',
    'core/base/bad.h': '#pragma once\n\nstd::string name();\n',
  };
  await withTree(texts, async (tree) => {
    const problems = await checkHeaders(tree);
    assert.deepEqual(
      problems.map(({ file, line }) => [file, line]),
      [['core/base/bad.h', 3]],
    );
  });
});

test('C++ that is not formatted is named once', async () => {
  const texts = {
    '.clang-format': 'BasedOnStyle: Google\n',
    'core/good.cc': 'int a = 1;\n',
    'core/bad.cc': 'int a = 1;\nint  b=2;\nint  c=2;\n',
  };
  await withTree(texts, async (tree) => {
    const problems = await checkClangFormat(tree);
    assert.deepEqual(
      problems.map(({ file, line }) => [file, line]),
      [['core/bad.cc', 2]],
    );
  });
});

test('JavaScript that is not formatted is named', async () => {
  await withTree({ 'js/good.js': 'f(1);\n', 'js/bad.js': 'f( 1 )\n' }, async (tree) => {
    assert.deepEqual(
      (await checkPrettier(tree)).map(({ file }) => file),
      ['js/bad.js'],
    );
  });
});

/** @param {string} code */
function lint(code) {
  /** @type {any} */
  const rules = config;
  const messages = new Linter().verify(code, rules, { filename: 'js/a.js' });
  return messages.map(({ line, ruleId }) => `${line}:${ruleId}`);
}

test('eslint: comments, lengths and plain faults', () => {
  assert.deepEqual(lint('/** @param {string} a */\nexport const f = (a) => a; // why\n'), []);
  assert.deepEqual(lint('// TODO: later\nexport const a = 1;\n'), ['1:millrace/comments']);
  assert.deepEqual(lint('/*\n * const b = 2;\n */\nexport const a = "// TODO";\n'), [
    '2:millrace/comments',
  ]);
  assert.deepEqual(lint('export const f = (a) => a == 1;\n'), ['1:eqeqeq']);
  const long = (/** @type {number} */ lines) =>
    `export function f(g) {\n${'  g();\n'.repeat(lines - 2)}}\n`;
  assert.deepEqual(lint(long(70)), []);
  assert.deepEqual(lint(long(71)), ['1:max-lines-per-function']);
});

test('a program that is not there is an error, not a pass', async () => {
  await assert.rejects(run('.', 'no-such-program', []), { code: 'ENOENT' });
});

test('the status and both outputs of a program come back', async () => {
  const { status, output } = await run('.', 'sh', ['-c', 'cat; echo b >&2; exit 3'], 'a\n');
  assert.equal(status, 3);
  assert.deepEqual(output.trim().split('\n').sort(), ['a', 'b']);
});

test('the tree of the checkout is what git knows and would add', () => {
  const tree = checkoutTree(checkout);
  assert.ok(tree.files.includes('tools/check'));
  assert.ok(!tree.files.some((file) => /^(build|node_modules|\.cache)\//.test(file)));
  assert.ok(tree.has('tools') && !tree.has('tools/none'));
});

/** @param {string[]} args */
const millrace = (...args) =>
  spawnSync(path.join(checkout, 'millrace'), args, { encoding: 'utf8', cwd: tmpdir() });

test('./millrace says what it can do, from anywhere', () => {
  const { status, stdout } = millrace('help');
  assert.equal(status, 0);
  for (const command of ['serve', 'test', 'bench']) assert.ok(stdout.includes(command));
});

test('./millrace refuses what it does not know, before it does anything', () => {
  const command = millrace('sevre');
  assert.equal(command.status, 1);
  assert.match(command.stderr, /unknown command: sevre/);
  const stage = millrace('test', 'ccp');
  assert.equal(stage.status, 1);
  assert.match(stage.stderr, /unknown stage or option: ccp/);
});

/** @param {string} script */
const bash = (script) => {
  const sources = '. tools/setup/common.sh; . tools/setup/debian.sh; . tools/setup/node.sh;';
  const text = `set -euo pipefail; root=$PWD; ${sources} ${script}`;
  return spawnSync('bash', ['-c', text], { encoding: 'utf8', cwd: checkout });
};

test('missing packages are found by commands and files, and named once', () => {
  const needs = `needs_of() { printf '%s\\n' 'sh dash' 'no-such-program one' '/no/such/file two'
                                             '/etc/passwd base-passwd' 'no-such-either one'; }`;
  const { stdout } = bash(`${needs.replace(/\n\s+/g, ' ')}; missing_packages any`);
  assert.equal(stdout.trim(), 'one two');
});

test('without rights, missing packages are named and nothing is installed', () => {
  const needs = "needs_of() { echo 'no-such-program one'; }";
  const { status, stderr } = bash(`${needs}; id() { echo 1000; }; ensure_debian_packages any`);
  assert.equal(status, 1);
  assert.match(stderr, /apt-get install one/);
});

test('a failing step shows the end of its log and keeps its status', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-log-'));
  const step = "run_step x 'doing x' sh -c 'echo reason; exit 7'";
  const { status, stderr } = bash(`log_folder=${folder}; ${step}`);
  rmSync(folder, { recursive: true });
  assert.equal(status, 7);
  assert.match(stderr, /doing x[\s\S]*reason/);
});
