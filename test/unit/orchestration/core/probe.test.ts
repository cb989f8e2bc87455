import { describe, expect, test } from "bun:test";
import {
  dueProbes,
  isRestartDue,
  type PodProbes,
  type ProbeTransition,
  probeStep,
  readyOf,
  resumeProbes,
  startProbes,
  wakeAt,
} from "../../../../src/orchestration/core/probe.ts";
import { decodeProbes, type ProbeName, type ProbesConfig } from "../../../../src/orchestration/core/spec/probes.ts";

const tcp = { tcp_socket: { port: 80 } };
const start = 1_000_000;

/** Takes attempts one after another and remembers the transitions. */
function rig(config: ProbesConfig, startedAt = start) {
  let state: PodProbes = startProbes(config, startedAt);
  const transitions: ProbeTransition[] = [];
  return {
    attempt(probe: ProbeName, ok: boolean, at = startedAt) {
      const step = probeStep(state, config, { probe, ok, text: ok ? "200 OK" : "connection refused", at });
      state = step.state;
      if (step.transition) transitions.push(step.transition);
    },
    restart(at: number) {
      state = startProbes(config, at, state);
    },
    get state() {
      return state;
    },
    transitions,
  };
}

describe("readiness", () => {
  const config = decodeProbes({ readiness: { ...tcp, failure_threshold: 2, success_threshold: 2 } });

  test("is unknown and not ready until it has passed its threshold in a row", () => {
    const pod = rig(config);
    expect(readyOf(pod.state)).toEqual({ ready: false, startup_passed: true, readiness_phase: "unknown" });
    pod.attempt("readiness", true);
    pod.attempt("readiness", false);
    pod.attempt("readiness", true);
    expect(readyOf(pod.state).ready).toBe(false);
    pod.attempt("readiness", true, start + 5_000);
    expect(readyOf(pod.state)).toEqual({
      ready: true,
      startup_passed: true,
      readiness_phase: "healthy",
      reason: "200 OK",
      last_transition: new Date(start + 5_000).toISOString(),
    });
  });

  test("stays healthy until failures in a row reach the threshold", () => {
    const pod = rig(config);
    for (const ok of [true, true, false, true, false]) pod.attempt("readiness", ok);
    expect(readyOf(pod.state).ready).toBe(true);
    pod.attempt("readiness", false);
    expect(readyOf(pod.state)).toMatchObject({
      ready: false,
      readiness_phase: "unhealthy",
      reason: "connection refused",
    });
  });

  test("each change of the phase is told once", () => {
    const pod = rig(config);
    for (const ok of [true, true, false, false, false, true, true, true]) pod.attempt("readiness", ok, start + 7);
    expect(pod.transitions).toEqual([
      { probe: "readiness", from: "unknown", to: "healthy", text: "200 OK", at: start + 7 },
      { probe: "readiness", from: "healthy", to: "unhealthy", text: "connection refused", at: start + 7 },
      { probe: "readiness", from: "unhealthy", to: "healthy", text: "200 OK", at: start + 7 },
    ]);
  });

  test("its failures restart nothing", () => {
    const pod = rig(config);
    for (let n = 0; n < 10; n += 1) pod.attempt("readiness", false, start + n);
    expect(isRestartDue(pod.state, start + 1_000_000)).toBe(false);
  });
});

describe("when attempts are due", () => {
  test("first after the initial delay, then a period after the end of the one before", () => {
    const pod = rig(decodeProbes({ readiness: { ...tcp, initial_delay: "5s", period: "3s" } }));
    expect(dueProbes(pod.state, start + 4_999)).toEqual([]);
    expect(dueProbes(pod.state, start + 5_000)).toEqual(["readiness"]);
    expect(wakeAt(pod.state)).toBe(start + 5_000);
    pod.attempt("readiness", true, start + 6_200);
    expect(wakeAt(pod.state)).toBe(start + 9_200);
  });

  test("never without probes", () => {
    expect(wakeAt(startProbes({}, start))).toBeUndefined();
    expect(dueProbes(startProbes({}, start), start * 2)).toEqual([]);
    expect(readyOf(startProbes({}, start))).toEqual({ ready: true, startup_passed: true });
  });
});

describe("before the first success", () => {
  const config = decodeProbes({ readiness: { ...tcp, period: "10s", failure_threshold: 2 }, liveness: tcp });

  /** Makes every attempt at the moment it is due, as the server does; the app answers from `readyAt` on. */
  function attempts(pod: ReturnType<typeof rig>, probe: ProbeName, readyAt: number): number[] {
    const times: number[] = [];
    for (let at = start; at < start + 40_000; at = pod.state.states[probe]?.nextAt ?? Number.POSITIVE_INFINITY) {
      times.push(at - start);
      pod.attempt(probe, at >= readyAt, at);
      if (readyOf(pod.state).ready && probe !== "liveness") break;
    }
    return times;
  }

  test("readiness is tried in short pauses that grow, and an app is seen ready soon after it is", () => {
    const times = attempts(rig(config), "readiness", start + 1_000);
    expect(times).toEqual([0, 100, 200, 300, 400, 500, 625, 782, 978, 1_223]);
    expect(attempts(rig(config), "readiness", start + 12_000).at(-1)).toBeLessThan(15_001);
  });

  test("liveness keeps its period", () => {
    expect(attempts(rig(config), "liveness", start + 90_000)).toEqual([0, 10_000, 20_000, 30_000]);
  });

  test("failures count once in a period: it is unhealthy when it would be without the early attempts", () => {
    const pod = rig(config);
    attempts(pod, "readiness", start + 90_000);
    expect(pod.transitions).toEqual([
      { probe: "readiness", from: "unknown", to: "unhealthy", text: "connection refused", at: start + 10_000 },
    ]);
  });

  test("afterwards the period counts again, for failures too", () => {
    const pod = rig(config);
    attempts(pod, "readiness", start + 300);
    pod.attempt("readiness", false, start + 10_300);
    expect(pod.state.states.readiness?.nextAt).toBe(start + 20_300);
    expect(pod.state.states.readiness?.failures).toBe(1);
  });

  test("a replica that an earlier server saw unhealthy keeps its period", () => {
    const known = { startupPassed: true, readiness: "unhealthy" as const, transitionAt: 1 };
    const state = resumeProbes(config, start, known);
    const step = probeStep(state, config, { probe: "readiness", ok: false, text: "no", at: start });
    expect(step.state.states.readiness?.nextAt).toBe(start + 10_000);
  });
});

describe("startup", () => {
  const config = decodeProbes({
    startup: { ...tcp, success_threshold: 2 },
    liveness: { ...tcp, failure_threshold: 1 },
    readiness: { ...tcp, initial_delay: "30s" },
  });

  test("holds the others back, whatever they say", () => {
    const pod = rig(config);
    expect(dueProbes(pod.state, start + 3_600_000)).toEqual(["startup"]);
    const before = pod.state;
    pod.attempt("liveness", false);
    pod.attempt("readiness", true);
    expect(pod.state).toBe(before);
    expect(readyOf(pod.state)).toEqual({ ready: false, startup_passed: false, readiness_phase: "unknown" });
  });

  test("its failure is told and restarts nothing, and it goes on", () => {
    const pod = rig(config);
    for (let n = 0; n < 9; n += 1) pod.attempt("startup", false, start + n * 10_000);
    expect(pod.transitions.map(({ to }) => to)).toEqual(["unhealthy"]);
    expect(isRestartDue(pod.state, start + 1_000_000)).toBe(false);
    expect(readyOf(pod.state)).toMatchObject({ startup_passed: false, reason: "connection refused" });
    expect(dueProbes(pod.state, start + 90_000)).toEqual(["startup"]);
  });

  test("once passed it is done for good and the others begin, their delay counted from the start", () => {
    const pod = rig(config);
    pod.attempt("startup", true, start + 10_000);
    expect(readyOf(pod.state).startup_passed).toBe(false);
    pod.attempt("startup", true, start + 20_000);
    expect(readyOf(pod.state).startup_passed).toBe(true);
    expect(dueProbes(pod.state, start + 20_000)).toEqual(["liveness"]);
    expect(dueProbes(pod.state, start + 30_000)).toEqual(["liveness", "readiness"]);
    const before = pod.state;
    pod.attempt("startup", false, start + 40_000);
    expect(pod.state).toBe(before);
  });

  test("alone it makes the pod ready", () => {
    const pod = rig(decodeProbes({ startup: tcp }));
    pod.attempt("startup", true, start);
    expect(readyOf(pod.state)).toMatchObject({ ready: true, startup_passed: true });
    expect(readyOf(pod.state).readiness_phase).toBeUndefined();
    expect(wakeAt(pod.state)).toBeUndefined();
  });

  test("after a restart of the container everything begins anew", () => {
    const pod = rig(config);
    for (let n = 0; n < 2; n += 1) pod.attempt("startup", true, start);
    pod.attempt("readiness", true, start + 30_000);
    expect(readyOf(pod.state).ready).toBe(true);
    pod.restart(start + 60_000);
    expect(readyOf(pod.state)).toMatchObject({ ready: false, startup_passed: false, readiness_phase: "unknown" });
    expect(dueProbes(pod.state, start + 60_000)).toEqual(["startup"]);
  });
});

describe("liveness", () => {
  const config = decodeProbes({ liveness: { ...tcp, failure_threshold: 3 } });

  /** Fails `times` attempts, a second apart; returns the time of the last. */
  function fail(pod: ReturnType<typeof rig>, from: number, times = 3): number {
    for (let n = 0; n < times; n += 1) pod.attempt("liveness", false, from + n * 1_000);
    return from + (times - 1) * 1_000;
  }

  test("asks for a restart at once when it crosses its threshold, not before", () => {
    const pod = rig(config);
    fail(pod, start, 2);
    expect(isRestartDue(pod.state, start + 60_000)).toBe(false);
    pod.attempt("liveness", false, start + 2_000);
    expect(isRestartDue(pod.state, start + 2_000)).toBe(true);
    expect(readyOf(pod.state).ready).toBe(true);
  });

  test("asks again at every further crossing, later each time, up to five minutes", () => {
    const pod = rig(config);
    let last = fail(pod, start);
    pod.restart(last);
    const pauses: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      fail(pod, last + 1_000);
      const due = pod.state.restarts.dueAt ?? 0;
      pauses.push((due - last) / 1_000);
      pod.restart(due);
      last = due;
    }
    expect(pauses).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
    expect(pod.state.restarts.count).toBe(9);
  });

  test("also when the container was never restarted in between", () => {
    const pod = rig(config);
    fail(pod, start);
    expect(pod.transitions).toHaveLength(1);
    fail(pod, start + 20_000);
    expect(isRestartDue(pod.state, start + 22_000)).toBe(true);
    expect(pod.state.restarts.count).toBe(1);
    expect(pod.transitions).toHaveLength(1);
  });

  test("a restart that still waits is called off by recovery", () => {
    const pod = rig(config);
    pod.restart(fail(pod, start));
    const last = fail(pod, start + 3_000);
    expect(isRestartDue(pod.state, last)).toBe(false);
    expect(wakeAt(pod.state)).toBe(start + 12_000);
    pod.attempt("liveness", true, last + 1_000);
    expect(isRestartDue(pod.state, last + 1_000_000)).toBe(false);
  });

  test("a restart that waited is asked about once more: it happens only if that attempt fails", () => {
    const slow = decodeProbes({ liveness: { ...tcp, period: "25s", failure_threshold: 1 } });
    const late = () => {
      const pod = rig(slow);
      pod.restart(fail(pod, start, 1));
      fail(pod, start + 3_000, 1);
      return pod;
    };
    const due = start + 10_000;
    // The next attempt by its period would be at 28 s.
    expect(wakeAt(late().state)).toBe(due);
    expect(dueProbes(late().state, due)).toEqual(["liveness"]);
    expect(isRestartDue(late().state, due + 1_000)).toBe(false);
    const [back, dead] = [late(), late()];
    back.attempt("liveness", true, due + 20);
    expect(isRestartDue(back.state, due + 1_000_000)).toBe(false);
    dead.attempt("liveness", false, due + 20);
    expect(isRestartDue(dead.state, due + 20)).toBe(true);
    expect(wakeAt(dead.state)).toBe(due);
  });

  test("one success calls a waiting restart off, whatever the success threshold says", () => {
    const strict = decodeProbes({ liveness: { ...tcp, failure_threshold: 1 } });
    const { liveness } = strict;
    if (liveness === undefined) throw new Error("no liveness");
    const pod = rig({ liveness: { ...liveness, successThreshold: 3 } });
    pod.restart(fail(pod, start, 1));
    const last = fail(pod, start + 3_000, 1);
    pod.attempt("liveness", true, last + 1_000);
    expect(isRestartDue(pod.state, last + 1_000_000)).toBe(false);
  });

  test("after ten minutes without a restart the next one does not wait", () => {
    const pod = rig(config);
    pod.restart(fail(pod, start));
    pod.restart(fail(pod, start + 3_000));
    const last = fail(pod, start + 700_000);
    expect(isRestartDue(pod.state, last)).toBe(true);
    expect(pod.state.restarts).toEqual({ count: 1, lastAt: last, dueAt: last });
  });
});

test("an attempt of a probe that is not declared changes nothing", () => {
  const pod = rig(decodeProbes({ readiness: tcp }));
  const before = pod.state;
  pod.attempt("liveness", false);
  expect(pod.state).toBe(before);
});
