// mixed: what slow handlers do to the latency of fast ones. One connection in ten asks for a route
// that computes for 1 ms; both kinds have histograms of their own.

import { compareBy, latencyMetrics, rateMetric, resourceMetrics, rowOf } from './metrics.js';
import { comparisonHeading, comparisonLegend, describeDiscards, quickWarning } from './report.js';
import { writeJson } from './report.js';
import { measurePairs } from './session.js';
import { findSides, loadProgram } from './sides.js';
import { formatTable } from './table.js';

const metrics = [
  ...latencyMetrics('main', 'fast ', ['p50', 'p99']),
  ...latencyMetrics('slow', 'slow ', ['p50', 'p99']),
  rateMetric('main', 'fast, req/s'),
  rateMetric('slow', 'slow, req/s'),
  ...resourceMetrics.filter(({ key }) => key !== 'client_cpu_ns'),
];

function planMix(options, { millrace, uws }) {
  const slow = Math.max(1, Math.round(options.connections / 10));
  return {
    sides: { candidate: millrace, reference: uws },
    pairs: options.pairs,
    restarts: options.restarts,
    attempts: options.quick ? 1 : 2,
    warmup: options.warmup,
    loadProgram: loadProgram(options),
    loadCpu: options.loadCpu,
    serverCpu: options.serverCpu,
    load: {
      path: '/fast',
      connections: options.connections - slow,
      lane: [`slow,/slow,${slow},1`],
      depth: 1,
      warmup: options.quick ? 0.2 : 0.3,
      duration: options.duration,
    },
    paths: { all: ['/fast', '/slow'] },
    log: (block, number) => console.error(`mixed: block ${number} ${block.noise.join(' ')}`),
  };
}

/** Runs the benchmark and prints it. */
export async function runMixed(options) {
  const sides = await findSides(options);
  if (!sides.uws) throw new Error(`no uWebSockets.js for Node ${options.node}: give --against`);
  const plan = planMix(options, sides);
  const result = await measurePairs(plan);
  const names = [sides.millrace.name, sides.uws.name];
  const rows = metrics.map((metric) => compareBy(metric, result.blocks));
  console.log(
    `\n${names.join(' against ')}: Node ${result.versions.node}, ` +
      `${plan.load.connections} connections ask for a fast route, ` +
      `${options.connections - plan.load.connections} for one of 1 ms`,
  );
  console.log(formatTable([comparisonHeading(names), ...rows.map(rowOf)]));
  console.log(describeDiscards(result));
  console.log(comparisonLegend);
  if (options.quick) console.log(quickWarning);
  const summary = rows.map(({ metric, ...row }) => ({ metric: metric.key, ...row }));
  writeJson(options.json, { benchmark: 'mixed', options, rows: summary, ...result });
}
