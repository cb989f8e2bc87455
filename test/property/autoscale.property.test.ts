import { expect, test } from "bun:test";
import fc from "fast-check";
import { decideScale, type ScaleInput } from "../../src/orchestration/core/autoscale.ts";

const time = fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined });
const sample = fc.record({
  cpuPercent: fc.oneof(fc.double({ min: 0, max: 1_000 }), fc.constant(Number.NaN)),
  cpuLimit: fc.option(fc.double({ min: 0, max: 8, noNaN: true }), { nil: undefined }),
});
const input: fc.Arbitrary<ScaleInput> = fc
  .record({
    current: fc.nat({ max: 30 }),
    min: fc.integer({ min: 1, max: 10 }),
    more: fc.nat({ max: 15 }),
    cpuTarget: fc.integer({ min: 1, max: 100 }),
    samples: fc.array(sample, { maxLength: 6 }),
    lastUpAt: time,
    lastDownAt: time,
    cooldownUpMs: fc.nat({ max: 100_000 }),
    cooldownDownMs: fc.nat({ max: 100_000 }),
    now: fc.integer({ min: 0, max: 1_000_000 }),
  })
  .map(({ more, ...rest }) => ({ ...rest, max: rest.min + more }));

test("never outside the bounds, and inside them never more than one step, always with a reason", () => {
  fc.assert(
    fc.property(input, (given) => {
      const { replicas, why } = decideScale(given);
      expect(replicas).toBeGreaterThanOrEqual(given.min);
      expect(replicas).toBeLessThanOrEqual(given.max);
      const isInside = given.current >= given.min && given.current <= given.max;
      if (isInside) expect(Math.abs(replicas - given.current)).toBeLessThanOrEqual(1);
      expect(why).not.toBe("");
    }),
    { numRuns: 1_000 },
  );
});

test("within the tolerance of the target nothing moves", () => {
  const near = fc.double({ min: 0.901, max: 1.099, noNaN: true });
  fc.assert(
    fc.property(input, near, (given, ratio) => {
      const current = Math.min(given.max, Math.max(given.min, given.current));
      const samples = [{ cpuPercent: given.cpuTarget * ratio, cpuLimit: 1 }];
      expect(decideScale({ ...given, current, samples }).replicas).toBe(current);
    }),
  );
});

/** Lets a steady load, in percent of one core, spread evenly over the replicas; returns the counts tick by tick. */
function ticks(given: ScaleInput, load: number, count: number): number[] {
  let state = { ...given };
  const counts: number[] = [];
  for (let tick = 1; tick <= count; tick += 1) {
    const now = given.now + tick * 15_000;
    const samples = Array.from({ length: state.current }, () => ({ cpuPercent: load / state.current, cpuLimit: 1 }));
    const { replicas } = decideScale({ ...state, samples, now });
    const step = replicas - state.current;
    state = {
      ...state,
      current: replicas,
      lastUpAt: step > 0 ? now : state.lastUpAt,
      lastDownAt: step < 0 ? now : state.lastDownAt,
    };
    counts.push(replicas);
  }
  return counts;
}

test("under a steady load the count goes one way only, comes to rest, and rests where the load fits", () => {
  fc.assert(
    fc.property(input, fc.double({ min: 0, max: 3_000, noNaN: true }), (given, load) => {
      const { min, max, cpuTarget } = given;
      const current = Math.min(max, Math.max(min, given.current));
      const start = {
        ...given,
        current,
        cooldownUpMs: 0,
        cooldownDownMs: 0,
        lastUpAt: undefined,
        lastDownAt: undefined,
      };
      const counts = ticks(start, load, max - min + 5);
      const steps = counts.map((count, index) => Math.sign(count - (counts[index - 1] ?? current))).filter(Boolean);
      expect(new Set(steps).size).toBeLessThanOrEqual(1);
      expect(counts.at(-1)).toBe(counts.at(-5) ?? -1);
      const rest = counts.at(-1) ?? 0;
      if (rest < max) expect(load / rest).toBeLessThanOrEqual(cpuTarget * 1.1 + 1e-6);
    }),
    { numRuns: 1_000 },
  );
});

test("with cool-downs it comes to rest as well, at the same count", () => {
  fc.assert(
    fc.property(input, fc.double({ min: 0, max: 3_000, noNaN: true }), (given, load) => {
      const current = Math.min(given.max, Math.max(given.min, given.current));
      const start = { ...given, current, lastUpAt: undefined, lastDownAt: undefined };
      const quick = ticks({ ...start, cooldownUpMs: 0, cooldownDownMs: 0 }, load, 40);
      expect(ticks(start, load, 300).at(-1)).toBe(quick.at(-1) ?? -1);
    }),
    { numRuns: 100 },
  );
});
