import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  bootstrapMedian95,
  comparePairs,
  median,
  nearestRank,
  seededRandom,
  signFlipP,
  toPercent,
  tukeyHinges,
} from './stats.js';

// A published series of ten pairs, in requests a second, whose summary is known.
const candidate = [
  481_759, 484_113, 499_080, 500_261, 497_510, 483_383, 506_037, 495_532, 495_049, 490_719,
];
const reference = [
  429_215, 425_257, 434_250, 448_291, 439_557, 441_113, 430_500, 434_787, 443_162, 440_558,
];
const pairs = candidate.map((value, i) => ({ candidate: value, reference: reference[i] }));
const digits = (number, count = 2) => Number(number.toFixed(count));

test('the published series gives its published summary', () => {
  const result = comparePairs(pairs);
  assert.equal(digits(toPercent(result.ratio)), 12.71);
  assert.deepEqual(
    result.hinges.map((hinge) => digits(toPercent(hinge))),
    [11.59, 13.97],
  );
  assert.equal(result.wins, 10);
  assert.equal(result.pairs, 10);
});

test('the ratio of the medians is another number than the median of the ratios', () => {
  const result = comparePairs(pairs);
  assert.equal(result.candidate, 495_290.5);
  assert.equal(result.reference, 437_172);
  assert.equal(digits(toPercent(result.candidate / result.reference)), 13.29);
});

test('each pair has its published difference', () => {
  assert.deepEqual(
    pairs.map((pair) => digits(toPercent(pair.candidate / pair.reference))),
    [12.24, 13.84, 14.93, 11.59, 13.18, 9.58, 17.55, 13.97, 11.71, 11.39],
  );
});

test('ratios of medians of the other metrics of the series', () => {
  assert.equal(digits(toPercent(3.635 / 4.134)), -12.07);
  assert.equal(digits(toPercent(62_488_576 / 63_444_992)), -1.51);
  assert.equal(digits(toPercent(5_989_324 / 6_362_308)), -5.86);
  const p99 = median([4.053, 3.974, 3.896, 3.896, 3.896, 4.053, 3.819, 3.896, 3.896, 3.974]);
  const otherP99 = median([4.475, 4.475, 4.387, 4.301, 4.387, 4.387, 4.475, 4.387, 4.301, 4.387]);
  // Published as -11.20 from unrounded values: the series lies on a grid of 2 % steps, and the
  // medians are six steps apart. The rounded values give the same to one digit.
  assert.equal(digits(toPercent(1.02 ** -6)), -11.2);
  assert.equal(digits(toPercent(p99 / otherP99), 1), -11.2);
});

test('median', () => {
  assert.equal(median([3]), 3);
  assert.equal(median([4, 1, 3]), 3);
  assert.equal(median([10, 9, 1, 2]), 5.5);
  assert.throws(() => median([]), RangeError);
  assert.throws(() => median([1, NaN]), RangeError);
});

test('hinges leave out the middle of an odd number', () => {
  assert.deepEqual(tukeyHinges([1, 2, 3, 4, 5]), [1.5, 4.5]);
  assert.deepEqual(tukeyHinges([1, 2, 3, 4]), [1.5, 3.5]);
  assert.deepEqual(tukeyHinges([7]), [7, 7]);
  assert.deepEqual(tukeyHinges([2, 1]), [1, 2]);
});

test('nearest rank', () => {
  assert.equal(nearestRank([10, 20, 30, 40], 25), 10);
  assert.equal(nearestRank([10, 20, 30, 40], 25.1), 20);
  assert.equal(nearestRank([10, 20, 30, 40], 0), 10);
  assert.equal(nearestRank([10, 20, 30, 40], 100), 40);
});

test('the sign-flip test is exact for few values', () => {
  assert.equal(signFlipP([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), 2 / 1024);
  assert.equal(signFlipP([-1, -2, -3]), 2 / 8);
  assert.equal(signFlipP([1, -1]), 1);
  assert.equal(signFlipP([5]), 1);
  // Of the eight sums of +-1 +-2 +-4, two reach 5 = |-1 + 2 + 4| above and two below.
  assert.equal(signFlipP([-1, 2, 4]), 4 / 8);
  assert.equal(comparePairs(pairs).p, 2 / 1024);
});

test('the sign-flip test draws for many values', () => {
  const random = seededRandom(5);
  const around = (centre) => Array.from({ length: 30 }, () => centre + random() - 0.5);
  assert.ok(signFlipP(around(1), { draws: 2000 }) < 0.001);
  assert.ok(signFlipP(around(0), { draws: 2000 }) > 0.01);
});

test('the bootstrap interval holds the median and repeats', () => {
  const logs = pairs.map((pair) => Math.log(pair.candidate / pair.reference));
  const [low, high] = bootstrapMedian95([logs]);
  assert.ok(low < Math.log(1.1271) && high > Math.log(1.1271));
  assert.ok(low > Math.log(1.09) && high < Math.log(1.16));
  assert.deepEqual(bootstrapMedian95([logs]), [low, high]);
});

test('restarts that differ widen the interval', () => {
  const width = (groups) => {
    const [low, high] = bootstrapMedian95(groups);
    return high - low;
  };
  const one = [1, 1.01, 1.02, 1.03];
  const two = [2, 2.01, 2.02, 2.03];
  assert.ok(width([one, two]) > 0.9);
  assert.ok(width([[...one, ...one.map((value) => value + 0.001)]]) < 0.1);
});

test('lower is better where it is', () => {
  const swapped = pairs.map((pair) => ({ candidate: pair.reference, reference: pair.candidate }));
  assert.equal(comparePairs(swapped, 'lower').wins, 10);
  assert.equal(comparePairs(swapped, 'higher').wins, 0);
});

test('random numbers repeat and fill the range', () => {
  const [one, two] = [seededRandom(3), seededRandom(3)];
  const values = Array.from({ length: 1000 }, one);
  assert.deepEqual(
    values,
    values.map(() => two()),
  );
  assert.ok(Math.min(...values) >= 0 && Math.max(...values) < 1);
  assert.ok(Math.abs(median(values) - 0.5) < 0.05);
});
