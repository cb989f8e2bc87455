import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  canaryAfter,
  canaryBegin,
  type CanaryCommand,
  canaryLeftMs,
  type CanaryState,
  canaryTold,
  canaryWait,
  freshWanted,
  stepNow,
} from "../../src/orchestration/core/plan/canary.ts";
import { canaryWeights, shareOf, weightsOf } from "../../src/orchestration/core/plan/canary-weights.ts";
import type { CanaryPolicy } from "../../src/orchestration/core/workload.ts";

const count = fc.integer({ min: 0, max: 100 });
const someOf = fc.integer({ min: 1, max: 100 });
const percent = fc.integer({ min: 1, max: 100 }).map((whole) => whole / 100);

test("weights are whole numbers from 0 to 256, and one group always has some", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), count, count, (share, fresh, old) => {
      const weights = canaryWeights({ share, fresh, old });
      for (const weight of Object.values(weights)) {
        expect(Number.isInteger(weight) && weight >= 0 && weight <= 256).toBe(true);
      }
      if (fresh + old > 0) expect(fresh * weights.fresh + old * weights.old).toBeGreaterThan(0);
    }),
  );
});

test("with the replicas that a step starts, the new ones get their share within a tenth of it or half a percent", () => {
  fc.assert(
    fc.property(percent, someOf, (share, old) => {
      fc.pre(share < 1);
      const fresh = freshWanted({ share, pauseMs: 0 }, old);
      const got = shareOf(canaryWeights({ share, fresh, old }), { fresh, old });
      expect(Math.abs(got - share)).toBeLessThanOrEqual(Math.max(share / 10, 0.005));
      expect(got).toBeGreaterThan(0);
      expect(got).toBeLessThan(1);
    }),
  );
});

test("a larger share never gives the new replicas fewer requests", () => {
  fc.assert(
    fc.property(percent, percent, someOf, someOf, (one, other, fresh, old) => {
      const [small, large] = [Math.min(one, other), Math.max(one, other)];
      const got = (share: number) => shareOf(canaryWeights({ share, fresh, old }), { fresh, old });
      expect(got(large)).toBeGreaterThanOrEqual(got(small));
    }),
  );
});

const modes = fc.constantFrom("steps", "passed", "kept", "withdrawn");
const serving = fc.array(
  fc.record({ hash: fc.constantFrom("new", "base", "stray"), generation: fc.integer({ min: 1, max: 3 }) }),
  { minLength: 1, maxLength: 20 },
);

test("whatever the mode, some replica that can serve gets requests", () => {
  fc.assert(
    fc.property(modes, percent, serving, (mode, share, replicas) => {
      const canary = { hash: "new", generation: 2, baseHash: "base", mode, share } as const;
      const weights = weightsOf(canary, replicas);
      if (weights === undefined) return;
      expect(weights).toHaveLength(replicas.length);
      expect(Math.max(...weights)).toBeGreaterThan(0);
    }),
  );
});

test("a withdrawn release gets nothing while another can serve, and kept replicas nothing while new ones can", () => {
  fc.assert(
    fc.property(serving, (replicas) => {
      const canary = { hash: "new", generation: 1, baseHash: "base", share: 1 } as const;
      const given = (mode: "withdrawn" | "kept", hash: string) => {
        const weights = weightsOf({ ...canary, mode }, replicas);
        return replicas.some((one, index) => one.hash === hash && (weights?.[index] ?? 1) > 0);
      };
      if (replicas.some(({ hash }) => hash !== "new")) expect(given("withdrawn", "new")).toBe(false);
      if (replicas.some(({ hash }) => hash !== "base")) expect(given("kept", "base")).toBe(false);
    }),
  );
});

const policy: fc.Arbitrary<CanaryPolicy> = fc
  .uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 })
  .chain((shares) =>
    fc.record({
      steps: fc.tuple(
        ...shares
          .sort((a, b) => a - b)
          .map((share) =>
            fc.record({
              share: fc.constant(share / 100),
              pauseMs: fc.option(fc.integer({ min: 0, max: 60_000 }), { nil: undefined }),
            }),
          ),
      ),
      keepMs: fc.constant(0),
    }),
  );

type Event = { look: { isUp: boolean; ranMs: number } } | { tell: CanaryCommand };
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ look: fc.record({ isUp: fc.boolean(), ranMs: fc.nat(30_000) }) }) },
  { weight: 1, arbitrary: fc.record({ tell: fc.constantFrom("pause", "resume", "promote") }) },
);

function after(own: CanaryPolicy, state: CanaryState, happens: Event): CanaryState {
  if ("look" in happens) return canaryAfter(own, state, happens.look);
  const told = canaryTold(own, state, happens.tell);
  return "problem" in told ? state : told;
}

test("steps and shares only grow, and the share moves only while the replicas of the step are up", () => {
  fc.assert(
    fc.property(policy, fc.array(event, { maxLength: 40 }), (own, events) => {
      let state: CanaryState = canaryBegin;
      for (const happens of events) {
        const next = after(own, state, happens);
        expect(next.step).toBeGreaterThanOrEqual(state.step);
        expect(next.share).toBeGreaterThanOrEqual(state.share);
        if (!("look" in happens) || !happens.look.isUp) expect(next.share).toBe(state.share);
        if ("look" in happens && next.step === state.step + 1 && !state.isPromoted) {
          // Only after its whole time, and never past a person.
          expect(state.isPaused).toBe(false);
          expect(state.elapsedMs + happens.look.ranMs).toBeGreaterThanOrEqual(
            own.steps[state.step]?.pauseMs ?? Infinity,
          );
        }
        state = next;
      }
    }),
  );
});

test("from any state, looks and a resume where one is waited for lead to the end, and promote leads there by looks alone", () => {
  fc.assert(
    fc.property(policy, fc.array(event, { maxLength: 20 }), fc.boolean(), (own, events, isPromoted) => {
      let state = events.reduce((reached, happens) => after(own, reached, happens), canaryBegin);
      if (isPromoted) state = after(own, state, { tell: "promote" });
      for (let round = 0; round < 40 && stepNow(own, state) !== undefined; round++) {
        if (canaryWait(own, state) === "person") {
          expect(isPromoted).toBe(false);
          state = after(own, state, { tell: "resume" });
        }
        state = after(own, state, { look: { isUp: true, ranMs: canaryLeftMs(own, state) ?? 0 } });
      }
      expect(canaryWait(own, state)).toBe("rest");
    }),
  );
});
