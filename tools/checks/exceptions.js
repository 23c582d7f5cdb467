// The dated list of what may break a rule for a while: tools/exceptions.json.
//
//     [{ "file": "core/net/x.cc", "rule": "file-length", "until": "2030-01-31", "reason": "..." }]
import { lineAt } from './tree.js';

/** @import { Problem, Tree } from './tree.js' */
/** @typedef {{ file: string, rule: string, until: string, reason: string }} Exception */

export const exceptionsFile = 'tools/exceptions.json';

/** @param {Exception} entry @param {string} today */
function faultOf(entry, today) {
  if (!entry.file || !entry.rule || !entry.reason) return 'needs "file", "rule" and "reason"';
  if (!/^\d{4}-\d{2}-\d{2}$/.test(entry.until ?? '')) return 'needs "until", a date YYYY-MM-DD';
  if (entry.until < today) return `the exception of ${entry.file} for ${entry.rule} has expired`;
  return '';
}

/**
 * What is left of `problems`, and what is wrong with the list itself.
 * @param {Tree} tree
 * @param {Problem[]} problems
 * @param {Date} now
 * @param {boolean} complete all checks ran, so that an exception without use is one too many
 * @returns {Problem[]}
 */
export function applyExceptions(tree, problems, now, complete) {
  if (!tree.has(exceptionsFile)) return problems;
  const text = tree.read(exceptionsFile);
  const today = now.toISOString().slice(0, 10);
  /** @type {Problem[]} */
  const faults = [];
  let left = problems;
  for (const entry of /** @type {Exception[]} */ (JSON.parse(text))) {
    const line = lineAt(text, text.indexOf(JSON.stringify(entry.file ?? '')));
    const fault = faultOf(entry, today);
    if (fault) {
      faults.push({ file: exceptionsFile, line, rule: 'exceptions', message: fault });
      continue;
    }
    const kept = left.filter(({ file, rule }) => file !== entry.file || rule !== entry.rule);
    if (complete && kept.length === left.length) {
      const message = `${entry.file} no longer needs an exception for ${entry.rule}`;
      faults.push({ file: exceptionsFile, line, rule: 'exceptions', message });
    }
    left = kept;
  }
  return [...left, ...faults];
}
