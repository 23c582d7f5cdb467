// The sum that `./millrace test` ends with.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { countCtest, countSteps, countTap } from '../count-results.js';

/** @param {string} name @param {string} output @param {string} verdict */
const section = (name, output, verdict) =>
  [`1/3 Testing: ${name}`, 'Output:', '---', output, '<end of output>', verdict, '---', ''].join(
    '\n',
  );

const allGood = '[==========] Running 5 tests.\n[  PASSED  ] 5 tests.';
const oneBad = '[  PASSED  ] 4 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.b';

test('a GoogleTest program counts as its cases', () => {
  const log = section('a', allGood, 'Test Passed.') + section('b', oneBad, 'Test Failed.');
  assert.deepEqual(countCtest(log), { passed: 9, failed: 1, skipped: 0 });
});

test('another program counts as one', () => {
  const log = section('a', 'hello', 'Test Passed.') + section('b', 'hello', 'Test Failed.');
  assert.deepEqual(countCtest(log), { passed: 1, failed: 1, skipped: 0 });
});

test('a program that dies counts as failed, also after its cases passed', () => {
  assert.equal(countCtest(section('a', '[ RUN      ] A.b', 'Test Failed.')).failed, 1);
  assert.deepEqual(countCtest(section('a', allGood, 'Test Failed.')), {
    passed: 5,
    failed: 1,
    skipped: 0,
  });
});

test('skipped cases are told apart', () => {
  const output = '[  PASSED  ] 2 tests.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.c';
  assert.deepEqual(countCtest(section('a', output, 'Test Passed.')), {
    passed: 2,
    failed: 0,
    skipped: 1,
  });
});

test('TAP: cancelled tests have failed, open ones are skipped', () => {
  const tap = '# tests 9\n# pass 3\n# fail 1\n# cancelled 2\n# skipped 1\n# todo 2\n';
  assert.deepEqual(countTap(tap), { passed: 3, failed: 3, skipped: 3 });
});

test('steps', () => {
  const text = 'passed install\nfailed build dev\nskipped fuzzing\n\n';
  assert.deepEqual(countSteps(text), { passed: 1, failed: 1, skipped: 1 });
});

/** @param {string} steps */
function runOver(steps) {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-count-'));
  try {
    writeFileSync(path.join(folder, 'steps.txt'), steps);
    const script = fileURLToPath(new URL('../count-results.js', import.meta.url));
    const result = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
    return { status: result.status, last: result.stdout.trimEnd().split('\n').at(-1) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the last line is the sum, and the status tells of failures and of no test at all', () => {
  assert.deepEqual(runOver('passed a\npassed b\n'), { status: 0, last: '2 passed, 0 failed' });
  assert.deepEqual(runOver('passed a\nfailed b\n'), { status: 1, last: '1 passed, 1 failed' });
  assert.deepEqual(runOver('passed a\nskipped b\n'), {
    status: 0,
    last: '1 passed, 0 failed, 1 skipped',
  });
  assert.deepEqual(runOver(''), { status: 1, last: '0 passed, 0 failed' });
});
