import { expect, test } from "bun:test";
import fc from "fast-check";
import { createRing } from "../../../../../src/observability/core/stream/ring.ts";

const event = { type: "app", topic: "state" as const, dataFor: () => "" };

test("gives everything after a number, or says that some of it is gone", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 300 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 0, max: 320 }),
      (sizes, ringEvents, seq) => {
        const ring = createRing({ ringEvents, ringBytes: 200 });
        for (const size of sizes) ring.add(event, size);
        expect(ring.last).toBe(sizes.length);
        const found = ring.after(seq);
        if (seq > sizes.length) expect(found).toBeUndefined();
        if (found === undefined) return;
        const wanted = sizes.map((_, index) => index + 1).filter((one) => one > seq);
        expect(found.map((one) => one.seq)).toEqual(wanted);
        expect(found.length).toBeLessThanOrEqual(ringEvents);
        expect(found.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(200);
      },
    ),
  );
});
