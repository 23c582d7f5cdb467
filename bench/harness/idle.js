// idle: the memory that a keep-alive connection costs while nothing happens on it.

import { readFileSync } from 'node:fs';

import { checkServer } from './conformance.js';
import { runLoad } from './load.js';
import { writeJson } from './report.js';
import { findSides, loadProgram } from './sides.js';
import { formatTable } from './table.js';

const holdSeconds = 2;

function readRss(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Rss:\s+(\d+) kB$/m.exec(rollup)[1]) * 1024;
}

async function readSettledRss(server) {
  await server.collect();
  return readRss(server.pid);
}

/** Opens idle connections and returns what the server holds while they are open. */
async function holdConnections(server, target, options) {
  let holding;
  const runOptions = { ...target, idle: options.connections, hold: holdSeconds };
  const report = await runLoad(loadProgram(options), runOptions, (text) => {
    if (/^holding/m.test(text)) holding ??= readSettledRss(server);
  });
  if (report.errors.total > 0 || report.connections !== options.connections) {
    throw new Error(`${server.name}: errors: ${JSON.stringify(report.errors)}`);
  }
  if (!holding) throw new Error(`${server.name}: never saw the connections held`);
  return holding;
}

async function measureIdle(side, options) {
  const descriptors = options.connections + 1024;
  const server = await side.start({ descriptors, flags: ['--expose-gc'] });
  try {
    await checkServer(server, { mustHave: side.mustHave });
    const target = { port: server.port, pid: server.pid, cpu: options.loadCpu };
    // What the first requests make a server allocate is not the price of a connection.
    await runLoad(loadProgram(options), { ...target, duration: options.warmup, connections: 100 });
    const before = await readSettledRss(server);
    const idle = await holdConnections(server, target, options);
    const after = await readSettledRss(server);
    return { name: side.name, versions: server.versions, before, idle, after };
  } finally {
    await server.stop();
  }
}

const mib = (bytes) => (bytes / 1048576).toFixed(1);

/** Runs the benchmark and prints it. */
export async function runIdle(options) {
  const { limit, hello, millrace, uws } = await findSides(options);
  const results = [];
  for (const side of [limit, hello, millrace, uws].filter(Boolean)) {
    console.error(`idle: ${side.name}`);
    results.push(await measureIdle(side, options));
  }
  const rows = results.map(({ name, before, idle, after }) => [
    name,
    mib(before),
    mib(idle),
    mib(after),
    ((idle - before) / options.connections).toFixed(0),
  ]);
  console.log(`\n${options.connections} idle connections, one request each; Node ${options.node}`);
  const heading = ['', 'RSS before, MiB', 'idle, MiB', 'closed, MiB', 'bytes a connection'];
  console.log(formatTable([heading, ...rows]));
  console.log('Memory of the process, garbage collected; what the kernel keeps is not in it.');
  writeJson(options.json, { benchmark: 'idle', options, results });
}
