import { doubledWait } from "../../../base/pure/doubling.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import { type Broadcast, createBroadcast } from "../../../base/words/broadcast.ts";
import type { FailureReason } from "../../../base/wire/failure.ts";
import { type KeyText, keyText } from "../../api/manifest-key.ts";

/** The last error of a resource, as long as it lasts. */
interface Trouble {
  reason: FailureReason;
  message: string;
  /** Epoch ms of the latest failure. */
  at: number;
  attempts: number;
  /** Another try would end the same. */
  lasting: boolean;
  /** Epoch ms of the next try. */
  retryAt: number | undefined;
}

/**
 * What the reconciler remembers between rounds and does not need after a restart: errors, healing back-off, when a
 * rollout began. All of it is rebuilt by running. Times are of the steady clock, except those of a `Trouble`.
 */
export interface Progress {
  readonly moved: Broadcast<KeyText>;
  trouble(key: ManifestKey): Trouble | undefined;
  troubles(): Iterable<[KeyText, Trouble]>;
  setTrouble(key: ManifestKey, trouble: Trouble): void;
  clearTrouble(key: ManifestKey): void;
  /** When the present rollout last got further, or began: another target is another rollout. */
  rolloutMovedAt(key: ManifestKey, rollout: { target: string; reached: number; now: number }): number;
  /** A time in which nothing could be done: rollouts are as far as if it had not been. */
  skip(time: { from: number; to: number }): void;
  /** As `rolloutMovedAt`, of the rollout that is under way; undefined where none is. */
  rolloutSince(key: ManifestKey): number | undefined;
  /** Init chains that failed lately, newest last, as the status shows them. */
  initFailures(key: ManifestKey): Record<string, unknown>[];
  addInitFailure(key: ManifestKey, failure: Record<string, unknown>): void;
  clearInitFailures(key: ManifestKey, replicaId?: string): void;
  /** Settled: whatever comes next is a rollout of its own. */
  rolloutDone(key: ManifestKey): void;
  /** Before which the container is not started again. */
  startNotBefore(containerId: string): number;
  /** Remembers a start; the next one waits longer, until the container has run for a minute. */
  started(containerId: string, now: number): void;
  holdStart(containerId: string, until: number): void;
  /** Keeps the reconciler away from one replica until the returned function is called. `why`: what is being done, for people. */
  hold(key: ManifestKey, replicaId: string, why: string): () => void;
  /** Replica ids, and why each is held. */
  held(key: ManifestKey): [string, string][];
  forget(key: ManifestKey): void;
}

interface ProgressOptions {
  backoffFirstMs: number;
  backoffMaxMs: number;
  onListenerError: (error: unknown) => void;
}

const initFailuresKept = 10;

/** Starts of one container in a row, by its id. */
interface Heal {
  tries: number;
  notBefore: number;
}

const steadyAfterMs = 60_000;

/** One that could have been started again for so long and was not has run all the while, or is gone. */
function forgetSteady(heals: Map<string, Heal>, now: number): void {
  for (const [id, { notBefore }] of heals) if (now - notBefore > steadyAfterMs) heals.delete(id);
}

export function createProgress(options: ProgressOptions): Progress {
  const troubles = new Map<KeyText, Trouble>();
  const rollouts = new Map<KeyText, { target: string; reached: number; at: number }>();
  const inits = new Map<KeyText, Record<string, unknown>[]>();
  const heals = new Map<string, Heal>();
  const holds = new Set<{ key: KeyText; replicaId: string; why: string }>();

  return {
    moved: createBroadcast<KeyText>(options.onListenerError),
    trouble: (key) => troubles.get(keyText(key)),
    troubles: () => troubles.entries(),
    setTrouble: (key, trouble) => void troubles.set(keyText(key), trouble),
    clearTrouble: (key) => void troubles.delete(keyText(key)),
    rolloutMovedAt(key, { target, reached, now }) {
      const known = rollouts.get(keyText(key));
      // Compared with the furthest it ever got: replicas that come and go do not count again each time.
      if (known?.target === target && reached <= known.reached) return known.at;
      rollouts.set(keyText(key), { target, reached, at: now });
      return now;
    },
    skip({ from, to }) {
      for (const rollout of rollouts.values())
        rollout.at = Math.max(rollout.at, rollout.at < from ? rollout.at + to - from : to);
    },
    rolloutSince: (key) => rollouts.get(keyText(key))?.at,
    initFailures: (key) => inits.get(keyText(key)) ?? [],
    addInitFailure: (key, failure) =>
      void inits.set(keyText(key), [...(inits.get(keyText(key)) ?? []), failure].slice(-initFailuresKept)),
    clearInitFailures(key, replicaId) {
      const left = (inits.get(keyText(key)) ?? []).filter((failure) => replicaId && failure.replica_id !== replicaId);
      if (left.length === 0) inits.delete(keyText(key));
      else inits.set(keyText(key), left);
    },
    rolloutDone: (key) => void rollouts.delete(keyText(key)),
    startNotBefore: (id) => heals.get(id)?.notBefore ?? 0,
    started(id, now) {
      forgetSteady(heals, now);
      const tries = (heals.get(id)?.tries ?? 0) + 1;
      const delay = doubledWait({ firstMs: options.backoffFirstMs, maxMs: options.backoffMaxMs }, tries);
      heals.set(id, { tries, notBefore: now + delay });
    },
    holdStart(id, until) {
      heals.set(id, { tries: heals.get(id)?.tries ?? 0, notBefore: until });
    },
    hold(key, replicaId, why) {
      const entry = { key: keyText(key), replicaId, why };
      holds.add(entry);
      return () => void holds.delete(entry);
    },
    held: (key) => [...holds].flatMap(({ key: of, replicaId, why }) => (of === keyText(key) ? [[replicaId, why]] : [])),
    forget(key) {
      troubles.delete(keyText(key));
      rollouts.delete(keyText(key));
      inits.delete(keyText(key));
    },
  };
}
