// idle: the memory that a keep-alive connection costs while nothing happens on it.

import { checkServer } from './conformance.js';
import { runLoad } from './load.js';
import { writeJson } from './report.js';
import { findSides, loadProgram } from './sides.js';
import { formatTable } from './table.js';

async function measureIdle(side, options) {
  const server = await side.start({ descriptors: options.connections + 1024 });
  try {
    await checkServer(server, { mustHave: side.mustHave });
    const target = { port: server.port, pid: server.pid, cpu: options.loadCpu };
    // What the first requests make a server allocate is not the price of a connection.
    await runLoad(loadProgram(options), { ...target, duration: options.warmup, connections: 100 });
    const report = await runLoad(loadProgram(options), { ...target, idle: options.connections });
    if (report.errors.total > 0) {
      throw new Error(`${side.name}: errors: ${JSON.stringify(report.errors)}`);
    }
    return { name: side.name, versions: server.versions, ...report };
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
  const rows = results.map((result) => [
    result.name,
    mib(result.rss_before_bytes),
    mib(result.rss_idle_bytes),
    mib(result.rss_after_bytes),
    result.bytes_per_connection.toFixed(0),
  ]);
  console.log(`\n${options.connections} idle connections, one request each; Node ${options.node}`);
  const heading = ['', 'RSS before, MiB', 'idle, MiB', 'closed, MiB', 'bytes a connection'];
  console.log(formatTable([heading, ...rows]));
  console.log(
    "The memory of the server's process; what the kernel keeps for a socket is not in it.",
  );
  writeJson(options.json, { benchmark: 'idle', options, results });
}
