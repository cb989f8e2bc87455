import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Bucket, takeFrom } from "../../../../../src/observability/core/tokens/bucket.ts";

const rate = { burst: 3, perMinute: 10 };

function takeAll(times: readonly number[]) {
  let bucket: Bucket | undefined;
  return times.map((now) => {
    const taken = takeFrom(bucket, rate, now);
    bucket = taken.bucket;
    return taken.waitMs;
  });
}

test("a burst goes through, then one every six seconds", () => {
  expect(takeAll([0, 0, 0, 0])).toEqual([undefined, undefined, undefined, 6_000]);
  expect(takeAll([0, 0, 0, 5_999, 6_000])).toEqual([undefined, undefined, undefined, 1, undefined]);
});

test("a pause fills it up to the burst and no further", () => {
  expect(takeAll([0, 0, 0, 3_600_000, 3_600_000, 3_600_000, 3_600_000]).slice(3)).toEqual([
    undefined,
    undefined,
    undefined,
    6_000,
  ]);
});

test("whoever waits as long as it says goes through, and never more do than the rate allows", () => {
  const steps = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (pauses) => {
      let now = 0;
      let bucket: Bucket | undefined;
      let through = 0;
      for (const pause of pauses) {
        now += pause;
        const { waitMs, bucket: after } = takeFrom(bucket, rate, now);
        if (waitMs === undefined) through += 1;
        else expect(takeFrom(after, rate, now + waitMs).waitMs).toBeUndefined();
        bucket = after;
      }
      expect(through).toBeLessThanOrEqual(rate.burst + (now * rate.perMinute) / 60_000 + 1e-6);
    }),
    // Its parts of one add up to a little less than one.
    { examples: [[[0, 717, 10, 7]]] },
  );
});
