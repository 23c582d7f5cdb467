// What the commands print around their tables.

import { writeFileSync } from 'node:fs';

import { describeMachine } from './environment.js';
import { clientBusyMax, noiseRules, serverBusyMin } from './noise.js';

export const comparisonHeading = (names) => [
  '',
  ...names,
  'ratio',
  'hinges',
  '95 % CI',
  'wins',
  'p',
];

export const comparisonLegend =
  'Values: medians over blocks. Ratio: median of the ratios of the pairs, first side to second;\n' +
  'hinges: Tukey; CI: bootstrap over restarts, then blocks; p: sign-flip test.';

/** How many blocks were measured and discarded, and by which rule. */
export function describeDiscards({ measured, quiet, reasons, busy, blocks }) {
  const why = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`);
  const counts = `${measured} blocks measured, ${measured - quiet} noisy (rule: ${noiseRules}`;
  const line = `${counts}${why.length > 0 ? `; slices: ${why.join(', ')}` : ''})`;
  if (!busy) return `${line}; ${blocks.length} kept`;
  return `${line}\nTHE MACHINE WAS BUSY: noisy blocks are in the table. Trust CPU ratios only.`;
}

/** Says whether the figures are the server's or the client's. */
export function describeLimits(utilisations) {
  const notes = [];
  for (const { name, client, server } of utilisations) {
    if (client > clientBusyMax) {
      notes.push(
        `${name}: the client's core was ${(100 * client).toFixed(0)} % in use. It may have been ` +
          'the limit: CPU a request is the figure that counts, the rate is a lower bound.',
      );
    } else if (server < serverBusyMin) {
      notes.push(
        `${name}: the server's core was only ${(100 * server).toFixed(0)} % in use: not saturated.`,
      );
    }
  }
  return notes;
}

export const quickWarning = 'Quick run: a look, not a result.';

/** Writes everything that was measured, with where it was measured. */
export function writeJson(path, content) {
  if (!path) return;
  writeFileSync(path, JSON.stringify({ format: 1, machine: describeMachine(), ...content }));
  console.log(`written to ${path}`);
}
