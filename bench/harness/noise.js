// The rules by which a slice is discarded. They look at the machine, never at results.

const stealMax = 0.02;
const foreignMax = 0.1;

/**
 * Why a slice must be discarded, or null. `cpus` are those of the server and of the load.
 *
 * @param {object} report of millrace-load
 */
export function findNoise(report, { serverCpu, loadCpu }) {
  const own = { [serverCpu]: report.server.cpu_s, [loadCpu]: report.client.cpu_s };
  for (const cpu of [serverCpu, loadCpu]) {
    const seen = report.machine.find((entry) => entry.cpu === cpu);
    if (seen.steal_s / report.window_s > stealMax) return 'steal';
    if ((seen.busy_s - own[cpu]) / report.window_s > foreignMax) return 'foreign';
  }
  return null;
}

/** The rules in words, for the report. */
export const noiseRules =
  `steal > ${stealMax * 100} %, ` + `or other work > ${foreignMax * 100} % of a core`;

/** The load generator was the limit, not the server, when its core was this busy. */
export const clientBusyMax = 0.85;

/** A server that used less of its core was not saturated. */
export const serverBusyMin = 0.95;
