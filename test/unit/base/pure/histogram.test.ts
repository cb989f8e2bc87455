import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  addDuration,
  createHistogram,
  type Histogram,
  mergeHistogram,
  packHistogram,
  quantile,
} from "../../../../src/base/pure/histogram.ts";

function histogramOf(values: readonly number[]): Histogram {
  const histogram = createHistogram();
  for (const value of values) addDuration(histogram, value);
  return histogram;
}

const durations = fc.array(fc.oneof(fc.nat(40), fc.nat(5_000), fc.nat(4_000_000)), { minLength: 1, maxLength: 200 });

test("an empty histogram has no quantiles", () => {
  expect(quantile(createHistogram(), 0.5)).toBeUndefined();
});

test("below 32 ms the quantiles are exact", () => {
  const histogram = histogramOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 31]);
  expect([0.1, 0.5, 0.9, 0.99, 1].map((share) => quantile(histogram, share))).toEqual([1, 5, 9, 31, 31]);
});

test("a duration is never told as shorter than it was, and at most a sixteenth longer", () => {
  fc.assert(
    fc.property(fc.nat(2 ** 31 - 1), (value) => {
      const told = quantile(histogramOf([value]), 1) ?? -1;
      expect(told).toBeGreaterThanOrEqual(value);
      expect(told).toBeLessThanOrEqual(value + value / 16);
    }),
    { numRuns: 3_000 },
  );
});

test("each quantile is that of the sorted durations, within a sixteenth", () => {
  fc.assert(
    fc.property(durations, fc.double({ min: 0, max: 1, noNaN: true }), (values, share) => {
      const sorted = values.toSorted((a, b) => a - b);
      const exact = sorted[Math.max(1, Math.ceil(share * values.length)) - 1] ?? -1;
      const told = quantile(histogramOf(values), share) ?? -1;
      expect(told).toBeGreaterThanOrEqual(exact);
      expect(told).toBeLessThanOrEqual(exact + exact / 16);
    }),
  );
});

test("merged histograms are the histogram of all durations", () => {
  fc.assert(
    fc.property(durations, durations, (some, others) => {
      const merged = histogramOf(some);
      mergeHistogram(merged, histogramOf(others));
      const all = histogramOf([...some, ...others]);
      expect(packHistogram(merged)).toEqual(packHistogram(all));
      expect(merged.total).toBe(all.total);
    }),
  );
});

test("longer durations and negative ones do no harm", () => {
  expect(quantile(histogramOf([2 ** 40]), 1)).toBe(2 ** 31 - 1);
  expect(quantile(histogramOf([-5]), 1)).toBe(0);
});
