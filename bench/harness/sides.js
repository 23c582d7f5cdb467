// The servers that benchmarks compare, and the programs they need.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ensureNode, ensureUws } from '../peers/store.js';
import { startNodeServer, startProgram } from './server-process.js';

const scriptPath = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The path of a built program. */
export function programPath(options, name) {
  const path = join(options.build, name);
  if (!existsSync(path)) throw new Error(`${path} is not built`);
  return path;
}

export const loadProgram = (options) => programPath(options, 'bench/load/millrace-load');

/**
 * A side is something to start for a benchmark: `start()` returns a server process, `mustHave`
 * names headers by which it is known to be what it claims.
 */
export async function findSides(options) {
  const node = await ensureNode(options.node);
  const peer = options.against ?? (options.node === '26' ? null : await ensureUws());
  const placement = { cpu: options.serverCpu };
  const nodeSide = (name, script, args, mustHave) => ({
    name,
    mustHave,
    start: (more) => startNodeServer({ name, node, script, args, ...placement, ...more }),
  });
  const programSide = (name, path, args) => ({
    name,
    mustHave: [],
    start: (more) =>
      startProgram({ name, path: programPath(options, path), args, ...placement, ...more }),
  });
  const uws =
    peer &&
    nodeSide(
      options.against ? 'reference' : 'uWebSockets.js',
      scriptPath('../servers/uws.js'),
      [peer],
      options.against ? [] : ['uWebSockets'],
    );
  return {
    peerPath: peer,
    millrace: nodeSide(
      options.candidate ? 'candidate' : 'Millrace',
      scriptPath('../servers/millrace.js'),
      options.candidate ? [options.candidate] : [],
      [],
    ),
    uws,
    hello: programSide('C++ hello', 'examples/cpp/hello'),
    limit: programSide('ceiling', 'bench/limit/millrace-limit'),
    grouped: programSide('grouped ceiling', 'bench/limit/millrace-limit', ['--grouped']),
  };
}
