// The statistics of paired measurements. Quartiles are Tukey's hinges everywhere.

/** A generator of numbers in 0..1, the same ones for the same seed (mulberry32). */
export function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function ascending(values) {
  if (values.length === 0 || !values.every(Number.isFinite)) {
    throw new RangeError('statistics need at least one value, all of them finite');
  }
  return Float64Array.from(values).sort();
}

function medianOfSorted(sorted) {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function median(values) {
  return medianOfSorted(ascending(values));
}

export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The medians of the lower and the upper half; of an odd number of values the middle one belongs to
 * neither half.
 */
export function tukeyHinges(values) {
  const sorted = ascending(values);
  if (sorted.length === 1) return [sorted[0], sorted[0]];
  const half = sorted.length >> 1;
  return [medianOfSorted(sorted.subarray(0, half)), medianOfSorted(sorted.subarray(-half))];
}

/** The value of nearest rank, `percent` in 0..100. */
export function nearestRank(values, percent) {
  const sorted = ascending(values);
  return sorted[Math.max(Math.ceil((percent / 100) * sorted.length), 1) - 1];
}

const exactFlipsMax = 16;

/**
 * The two-sided p-value of the sign-flip test: how often the sum of the values would be as far from
 * zero if each sign were a coin's. Exact for up to 16 values, else from 100,000 draws.
 */
export function signFlipP(values, { draws = 100_000, seed = 1 } = {}) {
  const sizes = Array.from(ascending(values.map(Math.abs)));
  const observed = Math.abs(values.reduce((sum, value) => sum + value, 0));
  // Sums of the same numbers in another order differ by rounding.
  const threshold = observed - 1e-12 * sizes.reduce((sum, size) => sum + size, 0);
  if (sizes.length <= exactFlipsMax) return exactFlipP(sizes, threshold);
  const random = seededRandom(seed);
  let extreme = 1;
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0;
    for (const size of sizes) sum += random() < 0.5 ? size : -size;
    if (Math.abs(sum) >= threshold) extreme++;
  }
  return extreme / (draws + 1);
}

function exactFlipP(sizes, threshold) {
  const flips = 2 ** sizes.length;
  let extreme = 0;
  for (let flip = 0; flip < flips; flip++) {
    let sum = 0;
    for (let i = 0; i < sizes.length; i++) sum += flip & (1 << i) ? sizes[i] : -sizes[i];
    if (Math.abs(sum) >= threshold) extreme++;
  }
  return extreme / flips;
}

/**
 * The 95 % confidence interval of the median, from resampling. `groups` are the values of each
 * process restart: restarts are drawn first and then values within them, because the values of one
 * process resemble each other.
 */
export function bootstrapMedian95(groups, { resamples = 10_000, seed = 1 } = {}) {
  const filled = groups.filter((group) => group.length > 0);
  if (filled.length === 0) throw new RangeError('nothing to resample');
  const random = seededRandom(seed);
  const draw = (list) => list[Math.floor(random() * list.length)];
  const medians = new Float64Array(resamples);
  for (let i = 0; i < resamples; i++) {
    const sample = [];
    for (let restart = 0; restart < filled.length; restart++) {
      const group = draw(filled);
      for (let k = 0; k < group.length; k++) sample.push(draw(group));
    }
    medians[i] = median(sample);
  }
  return [nearestRank(medians, 2.5), nearestRank(medians, 97.5)];
}

/**
 * Compares two sides measured in pairs.
 *
 * @param {{candidate: number, reference: number, restart?: number}[]} pairs all values above zero
 * @param {'higher' | 'lower'} better which ratios count as won
 * @returns ratios of candidate to reference: the median of the ratios of the pairs, its hinges and
 *   its bootstrap interval; beside them the median of each side, whose ratio is another number
 */
export function comparePairs(pairs, better = 'higher') {
  const ratios = pairs.map(({ candidate, reference }) => candidate / reference);
  const logs = ratios.map(Math.log);
  const restarts = [...new Set(pairs.map((pair) => pair.restart ?? 0))];
  const groups = restarts.map((restart) =>
    logs.filter((_, i) => (pairs[i].restart ?? 0) === restart),
  );
  return {
    pairs: pairs.length,
    candidate: median(pairs.map((pair) => pair.candidate)),
    reference: median(pairs.map((pair) => pair.reference)),
    ratio: median(ratios),
    hinges: tukeyHinges(ratios),
    wins: ratios.filter((ratio) => (better === 'higher' ? ratio > 1 : ratio < 1)).length,
    p: signFlipP(logs),
    interval95: bootstrapMedian95(groups).map(Math.exp),
  };
}

/** A ratio as a difference in percent. */
export function toPercent(ratio) {
  return 100 * (ratio - 1);
}
