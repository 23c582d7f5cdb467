// Adds up what the stages of `./millrace test` left in a folder; the sum is its last line. It reads
// ctest's own log, TAP files of node:test, and steps.txt ("passed|failed|skipped NAME" a line).
// Exit status 1 if anything failed or nothing ran.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/** @returns {Counts} */
const none = () => ({ passed: 0, failed: 0, skipped: 0 });

/** @param {Counts} sum @param {Counts} more */
function add(sum, more) {
  sum.passed += more.passed;
  sum.failed += more.failed;
  sum.skipped += more.skipped;
}

/** @param {string} text @param {RegExp} pattern with one group: a number */
function numberIn(text, pattern) {
  return Number(pattern.exec(text)?.[1] ?? 0);
}

/**
 * One section of ctest's log. A GoogleTest program counts as its cases, any other program as one.
 * @param {string} section
 * @returns {Counts}
 */
function countProgram(section) {
  const ok = /^Test Passed\.$/m.test(section);
  const counts = {
    passed: numberIn(section, /^\[ {2}PASSED {2}\] (\d+) tests?/m),
    failed: numberIn(section, /^\[ {2}FAILED {2}\] (\d+) tests?, listed below/m),
    skipped: numberIn(section, /^\[ {2}SKIPPED \] (\d+) tests?, listed below/m),
  };
  // A program that dies has no summary; one that fails after its tests has no failed test.
  if (!ok && counts.failed === 0) counts.failed = 1;
  if (ok && counts.passed + counts.skipped === 0) counts.passed = 1;
  return counts;
}

/** @param {string} log the text of ctest's LastTest.log */
export function countCtest(log) {
  const sum = none();
  for (const section of log.split(/^\d+\/\d+ Testing: /m).slice(1)) add(sum, countProgram(section));
  return sum;
}

/** @param {string} tap output of `node --test --test-reporter=tap` */
export function countTap(tap) {
  return {
    passed: numberIn(tap, /^# pass (\d+)$/m),
    failed: numberIn(tap, /^# fail (\d+)$/m) + numberIn(tap, /^# cancelled (\d+)$/m),
    skipped: numberIn(tap, /^# skipped (\d+)$/m) + numberIn(tap, /^# todo (\d+)$/m),
  };
}

/** @param {string} text lines of "passed|failed|skipped NAME" */
export function countSteps(text) {
  const sum = none();
  for (const line of text.split('\n')) {
    const outcome = line.split(' ', 1)[0];
    if (outcome === 'passed' || outcome === 'failed' || outcome === 'skipped') sum[outcome] += 1;
  }
  return sum;
}

/** @param {string} folder */
export function countFolder(folder) {
  const sum = none();
  for (const name of readdirSync(folder).sort()) {
    const text = readFileSync(path.join(folder, name), 'utf8');
    let counts = none();
    if (name === 'ctest.log') counts = countCtest(text);
    else if (name === 'steps.txt') counts = countSteps(text);
    else if (name.endsWith('.tap')) counts = countTap(text);
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
    console.log(`  ${name}: ${counts.passed} passed, ${counts.failed} failed${skipped}`);
    add(sum, counts);
  }
  return sum;
}

function main() {
  const folder = process.argv[2];
  if (!folder || !existsSync(folder)) throw new Error(`no such folder: ${folder}`);
  const { passed, failed, skipped } = countFolder(folder);
  const note = skipped > 0 ? `, ${skipped} skipped` : '';
  console.log(`${passed} passed, ${failed} failed${note}`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

if (process.argv[1] && path.resolve(process.argv[1]) === import.meta.filename) main();
