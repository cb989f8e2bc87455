import type { Canary } from "../../orchestration/api/rollouts.ts";
import type { Receipt } from "../../orchestration/api/receipt.ts";
import type { PodRecord } from "../../orchestration/api/pods.ts";
import type { Clock } from "../../base/words/clock.ts";

/** What one look at a resource showed. */
export interface Look {
  /** `gone`: deleted meanwhile. */
  state: "pending" | "ready" | "failed" | "gone";
  /** The server's own word: progressing, failing, …; empty before it said anything. */
  phase: string;
  wanted: number;
  ready: number;
  /** Stopped by hand; they are left alone and not waited for. */
  frozen?: number;
  pods: readonly PodRecord[];
  /** Why it is not ready, as far as known. */
  why: string;
  /** Like `why`, without the count of ready replicas, where it begins with it. */
  detail?: string | undefined;
  /** The same as a stable word, where it is a fault. */
  reason?: string;
  /** How far its canary is. */
  canary?: Canary;
  /** The release that is waited for, while its commands run and nothing is replaced yet. */
  releasing?: string;
  /** The release that made it ready. */
  released?: string;
  /** The release that the server went back to by itself after the one that is waited for had failed. */
  rolledBackTo?: string;
  /** The fields that this changed back, with their values. */
  takenBack?: string;
}

export interface WaitTarget {
  /** `kind/scope/name` */
  ref: string;
  /** One look; throws when the server cannot answer just now. */
  look(): Promise<Look>;
  /** The command that takes the change back, where the waiting command knows one. */
  undo?: string | undefined;
}

export interface Waited {
  ref: string;
  look: Look;
  /** What visitors saw of the release that made it ready; known once the wait is over. */
  receipt?: Receipt | undefined;
}

interface WaitSetup {
  clock: Clock;
  signal: AbortSignal;
  pollMs: number;
  timeoutMs: number;
  /** Without any answer for so long the wait ends before its time. */
  silenceMs: number;
  /** Called after each round with the last look at every target, in order. */
  onRound: (round: readonly Waited[]) => void;
  /** Whether an error of `look` may pass by itself, such as a server that restarts. */
  passing: (error: unknown) => boolean;
}

export interface WaitResult {
  /** `held`: a canary waits for a person, and everything else is ready. */
  outcome: "ready" | "failed" | "timed out" | "interrupted" | "held";
  targets: Waited[];
}

const nothingYet: Look = { state: "pending", phase: "", wanted: 0, ready: 0, pods: [], why: "" };

/**
 * Looks at every target until each is ready, failed or gone, the time is up, or the operator interrupts. Throws a
 * `Silence` when the server gives no answer for `silenceMs`, or none at the end of the time.
 */
export async function waitFor(targets: readonly WaitTarget[], setup: WaitSetup): Promise<WaitResult> {
  const { clock, signal } = setup;
  let deadline = clock.now() + setup.timeoutMs;
  let round: Waited[] = targets.map(({ ref }) => ({ ref, look: nothingYet }));
  let silentSince: number | undefined;
  for (;;) {
    const began = clock.now();
    const looked = await Promise.all(targets.map((target, index) => lookOnce(target, round[index], setup)));
    round = looked.map(({ waited }) => waited);
    if (signal.aborted) return { outcome: "interrupted", targets: round };
    setup.onRound(round);
    if (round.every(({ look }) => look.state !== "pending")) break;
    if (round.every(({ look }) => look.state !== "pending" || look.canary?.state === "paused")) {
      return { outcome: outcomeOf(round, "held"), targets: round };
    }
    deadline = Math.max(deadline, clock.now() + heldMs(round, setup.timeoutMs));
    const silence = silenceIn(looked);
    silentSince = silence === undefined ? undefined : (silentSince ?? began);
    const now = clock.now();
    const isTooLong = silentSince !== undefined && now - silentSince >= setup.silenceMs;
    if (silence !== undefined && silentSince !== undefined && (isTooLong || now >= deadline)) {
      throw new Silence(silence.error, { targets: round, silentMs: now - silentSince });
    }
    if (now >= deadline) return { outcome: outcomeOf(round, "timed out"), targets: round };
    await clock.sleep(setup.pollMs, signal);
  }
  return { outcome: outcomeOf(round, "ready"), targets: round };
}

/** The server did not answer; `cause` is the last error. */
export class Silence extends Error {
  readonly targets: readonly Waited[];
  readonly silentMs: number;

  constructor(cause: unknown, { targets, silentMs }: { targets: readonly Waited[]; silentMs: number }) {
    super("the server does not answer", { cause });
    this.name = "Silence";
    this.targets = targets;
    this.silentMs = silentMs;
  }
}

interface Looked {
  waited: Waited;
  /** The error that came in place of an answer. */
  silence?: { error: unknown };
}

/** An error of a round in which nothing that was asked had an answer. */
function silenceIn(looked: readonly Looked[]): Looked["silence"] {
  const asked = looked.filter(({ waited }) => waited.look.state === "pending");
  return asked.every(({ silence }) => silence !== undefined) ? asked[0]?.silence : undefined;
}

/** The time of a canary step does not count: the time to wait starts over behind it. */
function heldMs(round: readonly Waited[], timeoutMs: number): number {
  const left = round.map(({ look }) => (look.state === "pending" ? (look.canary?.left_seconds ?? 0) : 0));
  const most = Math.max(0, ...left);
  return most === 0 ? 0 : most * 1_000 + timeoutMs;
}

function outcomeOf(round: readonly Waited[], otherwise: "ready" | "timed out" | "held"): WaitResult["outcome"] {
  return round.some(({ look }) => look.state === "failed" || look.state === "gone") ? "failed" : otherwise;
}

/** A settled target is not looked at again; an error that may pass keeps the last look and says so. */
async function lookOnce(target: WaitTarget, before: Waited | undefined, setup: WaitSetup): Promise<Looked> {
  const { ref } = target;
  const last = before?.look ?? nothingYet;
  if (last.state !== "pending") return { waited: { ref, look: last } };
  try {
    return { waited: { ref, look: await target.look() } };
  } catch (error) {
    if (!setup.signal.aborted && !setup.passing(error)) throw error;
    return {
      waited: { ref, look: { ...last, why: "the server does not answer; still trying", detail: undefined } },
      silence: { error },
    };
  }
}
