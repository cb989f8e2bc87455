import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  dueProbes,
  isRestartDue,
  type PodProbes,
  type ProbeTransition,
  probeStep,
  readyOf,
  startProbes,
  wakeAt,
} from "../../src/orchestration/core/probe.ts";
import type { ProbeConfig, ProbeName, ProbesConfig } from "../../src/orchestration/core/spec/probes.ts";

const probe: fc.Arbitrary<ProbeConfig> = fc.record({
  action: fc.constant({ type: "tcp" as const, port: 80 }),
  initialDelayMs: fc.nat({ max: 30_000 }),
  periodMs: fc.integer({ min: 1, max: 20_000 }),
  timeoutMs: fc.constant(1_000),
  failureThreshold: fc.integer({ min: 1, max: 4 }),
  successThreshold: fc.integer({ min: 1, max: 3 }),
});
const config: fc.Arbitrary<ProbesConfig> = fc.record(
  { startup: probe, liveness: probe, readiness: probe },
  { requiredKeys: [] },
);
interface Act {
  probe: ProbeName;
  ok: boolean;
  afterMs: number;
  /** Whether the container is restarted when liveness asks for it. */
  obeys: boolean;
}
const story: fc.Arbitrary<Act[]> = fc.array(
  fc.record({
    probe: fc.constantFrom("startup" as const, "liveness" as const, "readiness" as const),
    ok: fc.boolean(),
    afterMs: fc.nat({ max: 20_000 }),
    obeys: fc.boolean(),
  }),
  { maxLength: 60 },
);

interface Seen {
  before: PodProbes;
  after: PodProbes;
  transition: ProbeTransition | undefined;
  at: number;
}

/** Plays a story; `watch` sees every attempt. */
function play(probes: ProbesConfig, acts: Act[], watch: (seen: Seen) => void): void {
  let at = 1_000_000;
  let state = startProbes(probes, at);
  for (const { probe, ok, afterMs, obeys } of acts) {
    at += afterMs;
    const before = state;
    const step = probeStep(before, probes, { probe, ok, text: ok ? "ok" : "no", at });
    state = step.state;
    watch({ before, after: state, transition: step.transition, at });
    if (obeys && isRestartDue(state, at)) state = startProbes(probes, at, state);
  }
}

test("a pod is ready exactly when startup has passed and readiness is healthy, where they are declared", () => {
  fc.assert(
    fc.property(config, story, (probes, acts) => {
      play(probes, acts, ({ after }) => {
        const startup = after.states.startup?.phase;
        const readiness = after.states.readiness?.phase;
        const { ready, startup_passed, readiness_phase } = readyOf(after);
        expect(startup_passed).toBe(startup === undefined || startup === "healthy");
        expect(readiness_phase).toBe(readiness);
        expect(ready).toBe(startup_passed && (readiness === undefined || readiness === "healthy"));
      });
    }),
  );
});

test("until startup has passed nothing else is due, changes, or restarts", () => {
  fc.assert(
    fc.property(config, story, (probes, acts) => {
      play(probes, acts, ({ after, at }) => {
        if (readyOf(after).startup_passed) return;
        expect(dueProbes(after, at + 1e9)).toEqual(["startup"]);
        expect(after.states.liveness?.phase ?? "unknown").toBe("unknown");
        expect(after.states.readiness?.phase ?? "unknown").toBe("unknown");
        expect(isRestartDue(after, at + 1e9)).toBe(false);
      });
    }),
  );
});

test("a restart is due only after an attempt that failed when it was due, and never after one that passed", () => {
  fc.assert(
    fc.property(config, story, (probes, acts) => {
      play(probes, acts, ({ after, at }) => {
        const { dueAt } = after.restarts;
        const { failedAt, failures = 0, successes = 0 } = after.states.liveness ?? {};
        if (successes > 0 && failures === 0) expect(dueAt).toBeUndefined();
        if (!isRestartDue(after, at)) return;
        expect(failedAt).toBeGreaterThanOrEqual(dueAt ?? Number.POSITIVE_INFINITY);
      });
    }),
  );
});

test("a transition is told exactly when the phase of the probe has changed", () => {
  fc.assert(
    fc.property(config, story, (probes, acts) => {
      play(probes, acts, ({ before, after, transition, at }) => {
        const changed = (["startup", "liveness", "readiness"] as const).filter(
          (name) => before.states[name]?.phase !== after.states[name]?.phase,
        );
        expect(changed).toEqual(transition ? [transition.probe] : []);
        if (transition === undefined) return;
        expect(before.states[transition.probe]?.phase).toBe(transition.from);
        expect(after.states[transition.probe]?.phase).toBe(transition.to);
        expect(after.lastTransitionAt).toBe(at);
      });
    }),
  );
});

test("a phase changes only after as many like outcomes as its threshold says", () => {
  fc.assert(
    fc.property(config, story, (probes, acts) => {
      play(probes, acts, ({ after, before, transition }) => {
        if (transition === undefined) return;
        const { probe: name, to } = transition;
        const { successThreshold = 0, failureThreshold = 0 } = probes[name] ?? {};
        if (to === "healthy") expect(after.states[name]?.successes).toBeGreaterThanOrEqual(successThreshold);
        else expect((before.states[name]?.failures ?? 0) + 1).toBeGreaterThanOrEqual(failureThreshold);
      });
    }),
  );
});

test("restarts by liveness are at least the back-off apart", () => {
  fc.assert(
    fc.property(config, story, (probes, acts) => {
      let last: number | undefined;
      play(probes, acts, ({ before, after }) => {
        const { dueAt } = after.restarts;
        if (dueAt === undefined || dueAt === before.restarts.dueAt) return;
        if (last !== undefined) expect(dueAt - last).toBeGreaterThanOrEqual(10_000);
        last = dueAt;
      });
    }),
    { numRuns: 500 },
  );
});

test("there is always something to wake up for, unless startup was all there was and has passed", () => {
  fc.assert(
    fc.property(config, story, (probes, acts) => {
      play(probes, acts, ({ after }) => {
        const goesOn = probes.liveness !== undefined || probes.readiness !== undefined;
        const isPending = probes.startup !== undefined && !readyOf(after).startup_passed;
        expect(wakeAt(after) !== undefined).toBe(goesOn || isPending);
      });
    }),
  );
});

/** Attempts at the moments they are due, until `untilMs`, each taking `tookMs`; when it failed for long enough. */
function unhealthyAt(probes: ProbesConfig, name: "startup" | "readiness", tookMs: number): number | undefined {
  let state = startProbes(probes, 0);
  for (let n = 0; n < 2_000; n += 1) {
    const at = (state.states[name]?.nextAt ?? 0) + tookMs;
    const step = probeStep(state, probes, { probe: name, ok: false, text: "no", at });
    if (step.transition !== undefined) return at;
    state = step.state;
  }
  return undefined;
}

test("early attempts make no probe unhealthy sooner than its periods, nor later than by an attempt each", () => {
  fc.assert(
    fc.property(
      probe,
      fc.constantFrom("startup" as const, "readiness" as const),
      fc.nat({ max: 2_000 }),
      (own, name, took) => {
        const { initialDelayMs, periodMs, failureThreshold } = own;
        const plainMs = initialDelayMs + took + (failureThreshold - 1) * (periodMs + took);
        const at = unhealthyAt({ [name]: own }, name, took);
        expect(at).toBeGreaterThanOrEqual(plainMs);
        expect(at).toBeLessThanOrEqual(plainMs + (failureThreshold - 1) * took);
      },
    ),
    { numRuns: 500 },
  );
});

test("an app is seen ready within a quarter of the time that it took, or the period, or a tenth of a second", () => {
  fc.assert(
    fc.property(probe, fc.nat({ max: 100_000 }), (own, readyAt) => {
      const probes = { readiness: { ...own, successThreshold: 1 } };
      let state = startProbes(probes, 0);
      for (let n = 0; n < 200_000 && !readyOf(state).ready; n += 1) {
        const at = state.states.readiness?.nextAt ?? 0;
        state = probeStep(state, probes, { probe: "readiness", ok: at >= readyAt, text: "", at }).state;
      }
      const { initialDelayMs, periodMs } = own;
      const seenAt = state.lastTransitionAt ?? Number.POSITIVE_INFINITY;
      const waitMs = Math.min(periodMs, Math.max(101, Math.ceil((readyAt - initialDelayMs) / 4)));
      expect(seenAt).toBeLessThanOrEqual(Math.max(initialDelayMs, readyAt + waitMs));
    }),
  );
});
