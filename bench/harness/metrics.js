// What is read from a slice, and how two sides are compared by it.

import { comparePairs, mean, median } from '../stats.js';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const fixed = (digits) => (value) => value.toFixed(digits);
const mib = (bytes) => (bytes / 1048576).toFixed(1);
const ms = (us) => (us / 1000).toFixed(3);
const percent = (share) => (100 * share).toFixed(1);

const lane = (slice, name) => slice.report.lanes.find((entry) => entry.name === name);

/** Latency percentiles of a lane. */
export function latencyMetrics(name, label, keys = ['p50', 'p95', 'p99']) {
  return keys.map((key) => ({
    key: `${name}_${key}_us`,
    label: `${label}${key}, ms`,
    better: 'lower',
    format: ms,
    read: (slice) => lane(slice, name).latency_us[key],
  }));
}

/** Requests a second of a lane. */
export function rateMetric(name, label) {
  return {
    key: `${name}_requests_per_s`,
    label,
    better: 'higher',
    format: whole.format,
    read: (slice) => lane(slice, name).requests_per_s,
  };
}

export const cpuMetric = {
  key: 'cpu_ns',
  label: 'server CPU a request, ns',
  better: 'lower',
  format: whole.format,
  read: (slice) => slice.report.server.cpu_ns_per_request,
};

const rssMetric = {
  key: 'rss_bytes',
  label: 'RSS after warm-up, MiB',
  better: 'lower',
  format: mib,
  read: (slice) => slice.report.server.rss_bytes,
};

// These come from a look into the server: programs that are not Node.js do not have them.
const heapMetric = {
  key: 'heap_used_bytes',
  label: 'heap used, MiB',
  better: 'lower',
  format: mib,
  read: (slice) => slice.snapshot?.memory.heapUsed,
};

const contextMetrics = [
  {
    key: 'server_utilisation',
    label: "server's core in use, %",
    format: percent,
    read: (slice) => slice.report.server.utilisation,
  },
  {
    key: 'client_utilisation',
    label: "client's core in use, %",
    format: percent,
    read: (slice) => slice.report.client.utilisation,
  },
  {
    key: 'client_cpu_ns',
    label: 'client CPU a request, ns',
    format: whole.format,
    read: (slice) => slice.report.client.cpu_ns_per_request,
  },
];

export const resourceMetrics = [cpuMetric, rssMetric, heapMetric, ...contextMetrics];

const blockValue = (block, role, metric) => mean(block.slices[role].map(metric.read));

/** One row: both sides and, if the metric says which is better, their paired comparison. */
export function compareBy(
  metric,
  blocks,
  { candidate = 'candidate', reference = 'reference' } = {},
) {
  const values = (role) => blocks.map((block) => blockValue(block, role, metric));
  const [a, b] = [values(candidate), values(reference)];
  const whole2 = [...a, ...b].every((value) => Number.isFinite(value) && value > 0);
  if (!whole2) return { metric, candidate: medianOrNull(a), reference: medianOrNull(b) };
  if (!metric.better) return { metric, candidate: median(a), reference: median(b) };
  const pairs = blocks.map(({ restart }, i) => ({ candidate: a[i], reference: b[i], restart }));
  return { metric, ...comparePairs(pairs, metric.better) };
}

function medianOrNull(values) {
  return values.every(Number.isFinite) ? median(values) : null;
}

/** The median over the blocks of what a side shows in one metric. */
export function medianOf(metric, blocks, role) {
  return median(blocks.map((block) => blockValue(block, role, metric)));
}

/** Cells for a table: label, both sides, then the comparison as text. */
export function rowOf(row) {
  const { metric } = row;
  const show = (value) => (value === null || value === undefined ? '-' : metric.format(value));
  const cells = [metric.label, show(row.candidate), show(row.reference)];
  if (row.ratio === undefined) return cells;
  const three = fixed(3);
  return [
    ...cells,
    three(row.ratio),
    row.hinges.map(three).join('..'),
    row.interval95.map(three).join('..'),
    `${row.wins}/${row.pairs}`,
    row.p < 0.0001 ? '<0.0001' : row.p.toPrecision(2),
  ];
}
