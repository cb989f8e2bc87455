import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { keepOf, type Seen, step, type Tracked } from "../../../../../src/observability/core/alerts/machine.ts";

const timing = { forMs: 60_000, keepMs: 120_000, keepMaxMs: 1_800_000, fires: 1 };
const at = (now: number) => ({ ...timing, now });

describe("one alert", () => {
  test("waits as long as its rule says, fires, and ends after all was well for a while", () => {
    const began = step(undefined, "bad", at(1_000));
    expect(began).toEqual({ next: { state: "pending", since: 1_000 }, change: "began" });
    expect(step(began.next, "bad", at(60_999)).next).toEqual({ state: "pending", since: 1_000 });
    const fired = step(began.next, "bad", at(61_000));
    expect(fired).toEqual({ next: { state: "firing", since: 1_000, firedAt: 61_000 }, change: "fired" });
    const well = step(fired.next, "well", at(70_000));
    expect(well.next).toMatchObject({ state: "firing", wellSince: 70_000 });
    expect(step(well.next, "bad", at(80_000)).next?.wellSince).toBeUndefined();
    expect(step(well.next, "well", at(190_000))).toEqual({ next: undefined, change: "resolved" });
  });

  test("a pending one that is well again vanishes and was never reported", () => {
    expect(step({ state: "pending", since: 1 }, "well", at(2))).toEqual({ next: undefined, change: "vanished" });
  });

  test("with a wait of 0 it fires at once", () => {
    expect(step(undefined, "bad", { ...at(5), forMs: 0 }).change).toBe("fired");
  });

  test("each time that it fires within the hour doubles the wait for its end", () => {
    expect([1, 2, 3, 9].map((fires) => keepOf({ ...timing, fires }))).toEqual([120_000, 240_000, 480_000, 1_800_000]);
  });
});

const seen = fc.constantFrom<Seen>("bad", "well", "unknown");
const history = fc.array(fc.tuple(seen, fc.integer({ min: -30_000, max: 90_000 })), { maxLength: 60 });

test("whatever is seen and however the clock jumps: fires once between two ends, never on what was not looked at", () => {
  fc.assert(
    fc.property(history, (looks) => {
      let tracked: Tracked | undefined;
      let now = 1_000_000;
      let firing = false;
      for (const [what, passedMs] of looks) {
        now += passedMs;
        const { next, change } = step(tracked, what, at(now));
        if (change === "fired") {
          expect(firing).toBe(false);
          expect(what).toBe("bad");
          firing = true;
        }
        if (change === "resolved") {
          expect(firing).toBe(true);
          expect(what).toBe("well");
          firing = false;
        }
        if (what === "unknown") expect(next).toEqual(tracked);
        expect(next?.state === "firing").toBe(firing);
        tracked = next;
      }
    }),
    { numRuns: 500 },
  );
});

/** Twenty looks, 15 s apart, that all see the same. */
function after(tracked: Tracked | undefined, what: Seen, from: number): Tracked | undefined {
  const times = Array.from({ length: 20 }, (_, index) => from + (index + 1) * 15_000);
  return times.reduce<Tracked | undefined>((state, now) => step(state, what, at(now)).next, tracked);
}

test("what stays bad fires in the end, what stays well ends in the end", () => {
  fc.assert(
    fc.property(history, (looks) => {
      let tracked: Tracked | undefined;
      let now = 1_000_000;
      for (const [what, passedMs] of looks) {
        now += passedMs;
        tracked = step(tracked, what, at(now)).next;
      }
      tracked = after(tracked, "bad", now);
      expect(tracked?.state).toBe("firing");
      tracked = after(tracked, "well", now + 300_000);
      expect(tracked).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});
