// raw: one small response, as often as it goes.

import { readOrigin } from '../peers/store.js';
import { diffHeaders } from './conformance.js';
import { compareBy, cpuMetric, latencyMetrics, medianOf, rateMetric } from './metrics.js';
import { resourceMetrics, rowOf } from './metrics.js';
import { comparisonHeading, comparisonLegend, describeDiscards, describeLimits } from './report.js';
import { quickWarning, writeJson } from './report.js';
import { measurePairs } from './session.js';
import { findSides, loadProgram } from './sides.js';
import { formatTable } from './table.js';

const rate = rateMetric('main', 'throughput, req/s');
const metrics = [rate, ...latencyMetrics('main', 'latency '), ...resourceMetrics];

function planDepth(options, sides, depth) {
  const { millrace, uws, limit, grouped, hello } = sides;
  const compared = { candidate: millrace, reference: uws ?? limit };
  if (uws) compared.ceiling = limit;
  if (options.cpp) Object.assign(compared, { hello, grouped });
  return {
    sides: compared,
    pairs: options.pairs,
    restarts: options.restarts,
    attempts: options.quick ? 1 : 2,
    warmup: options.warmup,
    loadProgram: loadProgram(options),
    loadCpu: options.loadCpu,
    serverCpu: options.serverCpu,
    load: {
      path: options.path,
      connections: options.connections,
      depth,
      warmup: options.quick ? 0.2 : 0.3,
      duration: options.duration,
    },
    // The programs answer on one path only.
    loadOf: (server) => (server.versions ? {} : { path: '/' }),
    paths: { all: ['/'], candidate: [options.path], reference: [uws ? options.path : '/'] },
    log: (block, number) => {
      const noise = block.noise.length > 0 ? ` noisy: ${block.noise.join(', ')}` : '';
      console.error(`depth ${depth}: block ${number}, restart ${block.restart + 1}${noise}`);
    },
  };
}

function ceilingRows(blocks, roles) {
  if (!roles.includes('ceiling')) return [];
  const share = (value) => `${(100 * value).toFixed(1)} %`;
  const top = medianOf(rate, blocks, 'ceiling');
  const cost = medianOf(cpuMetric, blocks, 'ceiling');
  const of = (role) => [
    share(medianOf(rate, blocks, role) / top),
    share(cost / medianOf(cpuMetric, blocks, role)),
  ];
  const [one, other] = [of('candidate'), of('reference')];
  return [
    [`of the ceiling's ${rate.format(top)} req/s`, one[0], other[0]],
    [`of the ceiling's ${cpuMetric.format(cost)} ns (ceiling : side)`, one[1], other[1]],
  ];
}

function printHello(blocks, sides, role) {
  const rows = metrics
    .map((metric) => compareBy(metric, blocks, { candidate: 'hello', reference: role }))
    .filter((row) => row.reference !== null);
  const names = [sides.hello.name, sides[role].name];
  console.log(`\n${formatTable([comparisonHeading(names), ...rows.map(rowOf)])}`);
}

function describeResponses(checks, names) {
  const { onlyFirst, onlySecond } = diffHeaders(checks.candidate, checks.reference);
  const only = (name, list) => (list.length > 0 ? `; only ${name}: ${list.join(', ')}` : '');
  return (
    `bytes a response: ${checks.candidate.bytes} and ${checks.reference.bytes}` +
    only(names[0], onlyFirst) +
    only(names[1], onlySecond)
  );
}

function printDepth(result, plan, options) {
  const { blocks, checks, versions } = result;
  const names = [plan.sides.candidate.name, plan.sides.reference.name];
  const rows = metrics.map((metric) => compareBy(metric, blocks));
  const { depth, connections } = plan.load;
  console.log(
    `\n${names.join(' against ')}: Node ${versions.node}, ` +
      `${connections} connections, depth ${depth}, ` +
      `blocks of 4 slices of ${options.duration} s, ${options.restarts} restarts`,
  );
  const [{ report }] = blocks[0].slices.candidate;
  console.log(`load by ${report.transport}, every response validated`);
  const roles = Object.keys(plan.sides);
  console.log(
    formatTable([comparisonHeading(names), ...rows.map(rowOf), ...ceilingRows(blocks, roles)]),
  );
  if (roles.includes('hello')) {
    printHello(blocks, plan.sides, roles.includes('ceiling') ? 'ceiling' : 'reference');
    printHello(blocks, plan.sides, 'grouped');
  }
  console.log(describeDiscards(result));
  console.log(describeResponses(checks, names));
  const utilisations = roles.map((role) => ({
    name: plan.sides[role].name,
    client: medianOf(
      metrics.find(({ key }) => key === 'client_utilisation'),
      blocks,
      role,
    ),
    server: medianOf(
      metrics.find(({ key }) => key === 'server_utilisation'),
      blocks,
      role,
    ),
  }));
  for (const note of describeLimits(utilisations)) console.log(note);
  return rows.map(({ metric, ...row }) => ({ metric: metric.key, ...row }));
}

/** Runs the benchmark and prints it. */
export async function runRaw(options) {
  const sides = await findSides(options);
  const results = [];
  for (const depth of options.depths) {
    const plan = planDepth(options, sides, depth);
    const result = await measurePairs(plan);
    results.push({ depth, rows: printDepth(result, plan, options), ...result });
  }
  console.log(`\n${comparisonLegend}`);
  if (options.quick) console.log(quickWarning);
  writeJson(options.json, { benchmark: 'raw', options, peer: readOrigin(sides.peerPath), results });
}
