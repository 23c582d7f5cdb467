// The command line of the benchmarks.

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

export const helpText = `usage: ./millrace bench raw|idle|mixed [options]

  raw    requests as fast as they go, Millrace against uWebSockets.js and against the ceiling
         --depth 10,1       pipelined requests on each of the connections
         --cpp              the C++ server too
         --with-request     handlers that take the request object
  idle   memory that an idle connection costs
         --connections N    default 10000
  mixed  latency of fast requests beside slow ones

  --node 20|22|24|26  default: the running one
  --pairs N           blocks of four slices for each comparison, default 10
  --duration S        of a slice, default 2
  --warmup S          of a server before its first slice, default 2
  --connections N     default 100
  --quick             fewer and shorter slices: a look, not a result
  --json FILE         everything that was measured
  --against PATH      another module in place of uWebSockets.js
  --candidate PATH    another module in place of Millrace
  --build DIR         default build/release
`;

const optionTypes = {
  depth: { type: 'string', default: '10,1' },
  node: { type: 'string', default: process.versions.node.split('.')[0] },
  pairs: { type: 'string' },
  duration: { type: 'string' },
  warmup: { type: 'string' },
  connections: { type: 'string' },
  quick: { type: 'boolean', default: false },
  cpp: { type: 'boolean', default: false },
  'with-request': { type: 'boolean', default: false },
  json: { type: 'string' },
  against: { type: 'string' },
  candidate: { type: 'string' },
  build: { type: 'string', default: resolve(root, 'build/release') },
  help: { type: 'boolean', default: false },
};

function toNumber(name, text, { min, max, whole = true }) {
  const number = Number(text);
  const fine = text.trim() !== '' && number >= min && number <= max;
  if (!fine || (whole && !Number.isInteger(number)))
    throw new Error(`--${name} ${text}: not valid`);
  return number;
}

/**
 * @param {string[]} args without the name of the program
 * @throws {Error} with a text for the user
 */
export function readOptions(args) {
  const { values, positionals } = parseArgs({ args, options: optionTypes, allowPositionals: true });
  if (values.help || positionals.length === 0) return { help: true };
  if (positionals.length > 1) throw new Error(`too many words: ${positionals.join(' ')}`);
  const [command] = positionals;
  const usual = values.quick
    ? { pairs: '4', duration: '1', warmup: '1' }
    : { pairs: '10', duration: '2', warmup: '2' };
  const number = (name, rule) => toNumber(name, values[name] ?? usual[name], rule);
  usual.connections = command === 'idle' ? '10000' : '100';
  return {
    command,
    depths: values.depth.split(',').map((d) => toNumber('depth', d, { min: 1, max: 1000 })),
    node: values.node,
    pairs: number('pairs', { min: 1, max: 1000 }),
    duration: number('duration', { min: 0.2, max: 600, whole: false }),
    warmup: number('warmup', { min: 0, max: 600, whole: false }),
    connections: number('connections', { min: 1, max: 100_000 }),
    restarts: values.quick ? 2 : 3,
    quick: values.quick,
    cpp: values.cpp,
    path: values['with-request'] ? '/with-request' : '/',
    json: values.json,
    against: values.against && resolve(values.against),
    candidate: values.candidate && resolve(values.candidate),
    build: resolve(values.build),
    ...pickCpus(),
  };
}

function pickCpus() {
  if (availableParallelism() < 2) throw new Error('a benchmark needs two CPUs');
  return { serverCpu: 0, loadCpu: 1 };
}
