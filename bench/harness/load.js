// One run of the load generator.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/**
 * Runs millrace-load and returns its report, also that of a run with errors (`errors.total`).
 *
 * @param {string} program
 * @param {Record<string, string | number | string[]>} options by the names of the command line
 * @param {(text: string) => void} [onComplaint] gets what comes on standard error, as it comes
 */
export async function runLoad(program, options, onComplaint = () => {}) {
  const args = Object.entries({ ...options, json: '-' }).flatMap(([name, value]) =>
    [value].flat().flatMap((item) => [`--${name}`, String(item)]),
  );
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.on('data', (chunk) => onComplaint(chunk.toString()));
  const [output, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (output === '') throw new Error(`millrace-load failed (${code}): ${complaint.trim()}`);
  return JSON.parse(output);
}
