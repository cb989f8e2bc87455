import { expect, test } from "bun:test";
import fc from "fast-check";
import { decideSleep, type UseSeen } from "../../src/orchestration/core/sleep.ts";

const idleMs = 1_000;

/** What happens to an app between two looks. */
const step = fc.record({
  afterMs: fc.integer({ min: 1, max: 400 }),
  /** Requests that came and went. */
  requests: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 3 })),
  active: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 2 })),
  isSettled: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
  isKnown: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
});

test("an app sleeps only after all of its idle time without use, and not much later than that", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let [now, count] = [0, 0];
      let before: UseSeen | undefined;
      // The last moment at which it was in use, or may have been: between two looks, as far as those tell.
      let [usedSince, unusedLooksFrom]: [number, number | undefined] = [0, undefined];
      for (const { afterMs, requests, active, isSettled, isKnown } of steps) {
        const last = now;
        now += afterMs;
        count += requests;
        const isQuiet = before !== undefined && requests === 0 && active === 0 && isSettled && isKnown;
        // What came while nothing was known is found at the next look that knows.
        if (!isQuiet) [usedSince, unusedLooksFrom] = [requests > 0 ? last : now, undefined];
        else unusedLooksFrom ??= now;
        const use = isKnown ? { mark: String(count), active } : undefined;
        const { seen, leftMs } = decideSleep({ before, use, isSettled, idleMs, now });
        before = seen;
        if (leftMs <= 0) expect(now - usedSince).toBeGreaterThanOrEqual(idleMs);
        // One look more than the idle time: the mark of a look that knew nothing is compared once.
        if (unusedLooksFrom !== undefined && now - unusedLooksFrom >= idleMs) expect(leftMs).toBeLessThanOrEqual(0);
        expect(leftMs).toBeLessThanOrEqual(idleMs);
      }
    }),
    { numRuns: 1_000 },
  );
});
