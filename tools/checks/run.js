// Child processes, as many at a time as there are cores.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** @typedef {{ status: number, output: string }} Finished */

let free = availableParallelism();
/** @type {(() => void)[]} */
const waiting = [];

async function acquire() {
  if (free > 0) free -= 1;
  else await new Promise((resolve) => waiting.push(() => resolve(undefined)));
}

function release() {
  const next = waiting.shift();
  if (next) next();
  else free += 1;
}

/**
 * Runs a program to its end and gives what it wrote to both streams. Rejects if it cannot start.
 * @param {string} root working folder
 * @param {string} program
 * @param {string[]} args
 * @param {string} [input] for its standard input
 * @returns {Promise<Finished>}
 */
export async function run(root, program, args, input) {
  await acquire();
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd: root });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
      child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
      child.on('error', reject);
      child.on('close', (status) => resolve({ status: status ?? 1, output }));
      child.stdin.on('error', () => {}); // it may end without reading
      child.stdin.end(input);
    });
  } finally {
    release();
  }
}
