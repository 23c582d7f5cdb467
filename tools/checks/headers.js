// Each header compiles alone.
import { run } from './run.js';

/** @import { Problem, Tree } from './tree.js' */

const folders = /^(core|include|node|fuzz|tests|bench)\//;

/** @param {Tree} tree @param {string} file @returns {Promise<Problem[]>} */
async function checkHeader(tree, file) {
  const args = ['-std=c++20', '-fsyntax-only', '-I.', '-Iinclude', '-x', 'c++', '-'];
  args.unshift('-Inode_modules/node-api-headers/include', `-I${file.split('/')[0]}`);
  const { status, output } = await run(tree.root, 'g++', args, `#include "${file}"\n`);
  if (status === 0) return [];
  const error = /^(?<place>[^\s:]+):(?<line>\d+):\d+: (?:fatal )?error: (?<text>.*)$/m.exec(output);
  const { place = file, line = '1', text = output.trim() } = error?.groups ?? {};
  const message = `does not compile alone: ${place === file ? '' : `${place}:${line}: `}${text}`;
  return [{ file, line: place === file ? Number(line) : 1, rule: 'headers', message }];
}

/** @param {Tree} tree @returns {Promise<Problem[]>} */
export async function checkHeaders(tree) {
  const headers = tree.files.filter((file) => file.endsWith('.h') && folders.test(file));
  return (await Promise.all(headers.map((file) => checkHeader(tree, file)))).flat();
}
