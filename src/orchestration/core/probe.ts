import { doubledWait } from "../../base/pure/doubling.ts";
import { probeNames } from "../api/kinds/defaults.ts";
import type { Readiness } from "../api/pods.ts";
import type { ProbeConfig, ProbeName, ProbesConfig } from "./spec/probes.ts";

type ProbePhase = "unknown" | "healthy" | "unhealthy";

interface ProbeState {
  phase: ProbePhase;
  /** Outcomes in a row; one of the two is 0. */
  successes: number;
  failures: number;
  /** What the last attempt said. */
  text: string | undefined;
  /** Epoch ms of the first failure of those in a row; undefined when the last attempt passed. */
  failingSince?: number | undefined;
  /** When the last attempt ended, if it failed. */
  failedAt?: number | undefined;
  /** When the next attempt is due; undefined while the startup probe holds it back, and for one that has passed. */
  nextAt: number | undefined;
  /** Set until the first success of a startup or readiness probe, which is tried more often than its period says. */
  early?: Early | undefined;
}

interface Early {
  /** When the first attempt was due. */
  begunAt: number;
  /** Failures of attempts that were due before this time are not counted: they are beyond the period. */
  countsFrom: number;
}

/**
 * Everything known about the probes of one container since it was started. Plain data; never altered in place. Times
 * are of one clock that is never set back, except where they say epoch.
 */
export interface PodProbes {
  startedAt: number;
  states: Partial<Record<ProbeName, ProbeState>>;
  restarts: LivenessRestarts;
  /** Epoch ms of the last change of a phase. */
  lastTransitionAt: number | undefined;
}

interface LivenessRestarts {
  /** Restarts asked for in a row, the one that is due included. */
  count: number;
  lastAt: number | undefined;
  /** From when on the container is to be restarted, if an attempt fails then; undefined when it is not. */
  dueAt: number | undefined;
}

export interface ProbeOutcome {
  probe: ProbeName;
  ok: boolean;
  /** What the attempt said: `200 OK`, `connection refused`. */
  text: string;
  /** When the attempt ended. */
  at: number;
  /** Like `at`, in epoch ms, where `at` is not. */
  epochAt?: number;
}

export interface ProbeTransition {
  probe: ProbeName;
  from: ProbePhase;
  to: "healthy" | "unhealthy";
  text: string;
  /** Epoch ms. */
  at: number;
}

const restartWaits = { firstMs: 10_000, maxMs: 300_000 };
const earlyPauseMinMs = 100;
/** An app that became ready after a time is seen ready within this part of that time, instead of within a period. */
const earlyShare = 1 / 4;
/** A container that has lived this long since its last restart is not in a loop: the next one does not wait. */
const loopMs = 600_000;

/** The probes of a container that was started just now. `before`, when it is the same replica, keeps the back-off. */
export function startProbes(config: ProbesConfig, startedAt: number, before?: PodProbes): PodProbes {
  const states: PodProbes["states"] = {};
  for (const name of probeNames) {
    const own = config[name];
    if (own === undefined) continue;
    const isHeld = name !== "startup" && config.startup !== undefined;
    const nextAt = isHeld ? undefined : startedAt + own.initialDelayMs;
    const early = earlyOf(name, nextAt);
    states[name] = { phase: "unknown", successes: 0, failures: 0, text: undefined, nextAt, ...(early && { early }) };
  }
  const { count, lastAt } = before?.restarts ?? { count: 0, lastAt: undefined };
  return {
    startedAt,
    states,
    restarts: { count, lastAt, dueAt: undefined },
    lastTransitionAt: before?.lastTransitionAt,
  };
}

/** Liveness never tries early: nothing waits for its first success. */
function earlyOf(name: ProbeName, begunAt: number | undefined): Early | undefined {
  return name === "liveness" || begunAt === undefined ? undefined : { begunAt, countsFrom: begunAt };
}

/** What an earlier server knew of a container that has run on since. */
export interface KnownReadiness {
  startupPassed: boolean;
  readiness: ProbePhase;
  /** Epoch ms. */
  transitionAt: number;
}

/** Taken up from an earlier server: what had passed has passed, and everything else is asked at once. */
export function resumeProbes(config: ProbesConfig, startedAt: number, known: KnownReadiness): PodProbes {
  const fresh = startProbes(config, startedAt);
  if (!known.startupPassed) return fresh;
  const { startup } = fresh.states;
  const passed = released({ ...fresh, lastTransitionAt: known.transitionAt }, config, startedAt);
  const { readiness } = passed.states;
  return {
    ...passed,
    states: {
      ...passed.states,
      ...(startup && { startup: { ...startup, phase: "healthy" as const, nextAt: undefined } }),
      ...(readiness && { readiness: resumed(readiness, known.readiness) }),
    },
  };
}

/** What was ready once, or has failed for long, is not about to start. */
function resumed(readiness: ProbeState, phase: ProbePhase): ProbeState {
  const { early, ...rest } = readiness;
  return phase === "unknown" ? readiness : { ...rest, phase };
}

/** Probes whose next attempt is due. The caller keeps attempts of one probe from overlapping. */
export function dueProbes({ states }: PodProbes, now: number): ProbeName[] {
  return probeNames.filter((name) => {
    const at = states[name]?.nextAt;
    return at !== undefined && at <= now;
  });
}

/** When there is something to do next, a restart or an attempt of a probe that is not `busy`; undefined when never. */
export function wakeAt({ states, restarts }: Asked, busy?: ReadonlySet<ProbeName>): number | undefined {
  const free = probeNames.filter((name) => !busy?.has(name));
  const restartAt = isConfirmed({ states, restarts }) ? restarts.dueAt : undefined;
  const times = [...free.map((name) => states[name]?.nextAt), restartAt].filter((at) => at !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Whether liveness wants the container restarted now; `startProbes` with the state as `before` follows the restart. */
export function isRestartDue({ states, restarts }: Asked, now: number): boolean {
  return isConfirmed({ states, restarts }) && (restarts.dueAt ?? now) <= now;
}

type Asked = Pick<PodProbes, "states" | "restarts">;

/** What was true before a pause says nothing about now: only an attempt that failed when the restart was due counts. */
function isConfirmed({ states: { liveness }, restarts: { dueAt } }: Asked): boolean {
  return dueAt !== undefined && liveness?.failedAt !== undefined && liveness.failedAt >= dueAt;
}

/**
 * The state after one attempt, and the phase change it made, if any. Thresholds count outcomes in a row. Until the
 * first success of a startup or readiness probe its failures are counted once in a period, however often it is tried:
 * the threshold is reached when it would be without the early attempts. The startup
 * probe holds the others back until it has passed, and is then done for good; its failure restarts nothing. Each time
 * liveness crosses its threshold, also while it is unhealthy already, a restart becomes due: the first at once, further
 * ones 10 s doubling to 5 min after the last. An outcome of a probe that is held back or done is dropped.
 */
export function probeStep(
  before: PodProbes,
  config: ProbesConfig,
  outcome: ProbeOutcome,
): { state: PodProbes; transition?: ProbeTransition } {
  const own = config[outcome.probe];
  const old = before.states[outcome.probe];
  if (own === undefined || old?.nextAt === undefined) return { state: before };
  const next = countedIn(old, own, outcome);
  const states = { ...before.states, [outcome.probe]: next };
  const state = afterwards({ ...before, states }, config, outcome);
  if (next.phase === old.phase || next.phase === "unknown") return { state };
  const { probe, text, epochAt: at = outcome.at } = outcome;
  return {
    state: { ...state, lastTransitionAt: at },
    transition: { probe, from: old.phase, to: next.phase, text, at },
  };
}

function countedIn(old: ProbeState, own: ProbeConfig, outcome: ProbeOutcome): ProbeState {
  const { ok, text, at, epochAt = at } = outcome;
  if (!ok && old.early !== undefined) return failedEarly(old, old.early, { own, outcome });
  const successes = ok ? old.successes + 1 : 0;
  const failures = ok ? 0 : old.failures + 1;
  const phase = phaseAfter(old.phase, successes >= own.successThreshold, failures >= own.failureThreshold);
  const failingSince = ok ? undefined : (old.failingSince ?? epochAt);
  const failedAt = ok ? undefined : at;
  return { phase, successes, failures, text, failingSince, failedAt, nextAt: at + own.periodMs };
}

/** A failure before the first success: counted if its attempt was due by the period, and tried again sooner than that. */
function failedEarly(
  old: ProbeState,
  { begunAt, countsFrom }: Early,
  { own, outcome }: { own: ProbeConfig; outcome: ProbeOutcome },
): ProbeState {
  const { text, at, epochAt = at } = outcome;
  const isCounted = old.nextAt !== undefined && old.nextAt >= countsFrom;
  const failures = old.failures + (isCounted ? 1 : 0);
  const next = isCounted ? at + own.periodMs : countsFrom;
  const pauseMs = Math.max(earlyPauseMinMs, Math.ceil((at - begunAt) * earlyShare));
  return {
    phase: phaseAfter(old.phase, false, failures >= own.failureThreshold),
    successes: 0,
    failures,
    text,
    failingSince: old.failingSince ?? epochAt,
    nextAt: Math.max(at, Math.min(at + pauseMs, next)),
    early: { begunAt, countsFrom: next },
  };
}

function phaseAfter(old: ProbePhase, hasPassed: boolean, hasFailed: boolean): ProbePhase {
  if (hasPassed) return "healthy";
  return hasFailed ? "unhealthy" : old;
}

/** What an outcome means beyond its own probe. */
function afterwards(state: PodProbes, config: ProbesConfig, { probe, at }: ProbeOutcome): PodProbes {
  if (probe === "startup" && state.states.startup?.phase === "healthy") return released(state, config, at);
  if (probe === "liveness") return livenessWatched(state, config, at);
  return state;
}

/** Startup has passed: it ends, and the others begin. */
function released(state: PodProbes, config: ProbesConfig, now: number): PodProbes {
  const { startup, liveness, readiness } = state.states;
  const begun = (name: "liveness" | "readiness", held: ProbeState | undefined) => {
    const own = config[name];
    if (held === undefined || own === undefined) return undefined;
    const nextAt = Math.max(now, state.startedAt + own.initialDelayMs);
    const early = earlyOf(name, nextAt);
    return { ...held, nextAt, ...(early && { early }) };
  };
  return {
    ...state,
    states: {
      ...(startup && { startup: { ...startup, nextAt: undefined } }),
      ...(liveness && { liveness: begun("liveness", liveness) }),
      ...(readiness && { readiness: begun("readiness", readiness) }),
    },
  };
}

function livenessWatched(state: PodProbes, config: ProbesConfig, now: number): PodProbes {
  const { liveness } = state.states;
  if (liveness === undefined || config.liveness === undefined) return state;
  // It answers: a restart would end what serves again, whatever its success threshold says.
  if (liveness.failures === 0) return { ...state, restarts: { ...state.restarts, dueAt: undefined } };
  const hasCrossed = liveness.failures >= config.liveness.failureThreshold;
  const restarts = hasCrossed ? withRestartDue(state.restarts, now) : state.restarts;
  // Counted again, so that the next crossing is seen.
  const counted = { ...liveness, failures: hasCrossed ? 0 : liveness.failures };
  return { ...state, states: { ...state.states, liveness: askedWhenDue(counted, restarts, now) }, restarts };
}

/** Asked once more when the restart is due, in the middle of its period. */
function askedWhenDue(liveness: ProbeState, { dueAt }: LivenessRestarts, now: number): ProbeState {
  if (dueAt === undefined || dueAt <= now) return liveness;
  return { ...liveness, nextAt: Math.min(liveness.nextAt ?? dueAt, dueAt) };
}

function withRestartDue(restarts: LivenessRestarts, now: number): LivenessRestarts {
  if (restarts.dueAt !== undefined) return restarts;
  const { count, lastAt } = restarts;
  if (lastAt === undefined || now - lastAt > loopMs) return { count: 1, lastAt: now, dueAt: now };
  const dueAt = Math.max(now, lastAt + doubledWait(restartWaits, count));
  return { count: count + 1, lastAt: dueAt, dueAt };
}

/**
 * Readiness of a running container (docs/contract/orchestration.md, 4.5), without its names. A pod without
 * startup and readiness probe is ready; `reason` is the last word of the probe that decides.
 */
export function readyOf({
  states,
  lastTransitionAt,
}: PodProbes): Pick<Readiness, "ready" | "startup_passed" | "readiness_phase" | "reason" | "last_transition"> {
  const { startup, readiness } = states;
  const passed = startup === undefined || startup.phase === "healthy";
  const reason = passed ? readiness?.text : startup.text;
  return {
    ready: passed && (readiness === undefined || readiness.phase === "healthy"),
    startup_passed: passed,
    ...(readiness && { readiness_phase: readiness.phase }),
    ...(reason !== undefined && { reason }),
    ...(lastTransitionAt !== undefined && { last_transition: new Date(lastTransitionAt).toISOString() }),
  };
}
