import { createWaker } from "../../../base/words/abort.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import { decideSleep, type UseSeen } from "../../core/sleep.ts";
import { decodeSpec, podOf } from "../../core/spec/decode.ts";
import type { SleepPolicy } from "../../core/spec/pod.ts";
import type { ManifestHead, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { type KeyText, keyText } from "../../api/manifest-key.ts";
import { latestRelease } from "./releases.ts";
import { putToSleep, wake } from "../state/sleep-changes.ts";

/** Puts unused apps with `wake: true` to sleep, and wakes those that get a request. */
export interface SleepRoom {
  /** Undefined where requests do not wake it, and where it was woken and crashes: no request has to wait for it then. */
  stateOf(key: ManifestKey): { asleep: boolean; since: number } | undefined;
  /** A request to `host` waits for it. Nothing happens to what is not asleep. */
  requested(key: ManifestKey, host: string): Promise<void>;
  /** Looks at what is awake until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface Known {
  head: ManifestHead;
  policy: SleepPolicy | undefined;
}

/** A look of the room at one app; `woken` tells a sleep from the next. */
interface Seen extends UseSeen {
  woken: number | undefined;
}

export function createSleepRoom(context: Context): SleepRoom {
  const { store, clock, limits, log } = context;
  let known = new Map<KeyText, Known>();
  const seen = new Map<KeyText, Seen>();
  const beingWoken = new Set<KeyText>();

  /** Specs are read when they change: most apps never sleep, and there may be thousands. */
  function sleepers(): { head: ManifestHead; policy: SleepPolicy }[] {
    const heads = store.manifests.heads().filter(({ kind }) => kind === "deployment");
    known = new Map(heads.map((head) => [keyText(head), knownOf(head)]));
    return [...known.values()].flatMap(({ head, policy }) => (policy === undefined ? [] : [{ head, policy }]));
  }

  function knownOf(head: ManifestHead): Known {
    const before = known.get(keyText(head));
    if (before?.head.revision === head.revision) return { head, policy: before.policy };
    const spec = store.manifests.get(head)?.spec;
    return { head, policy: spec && decodeSpec("deployment", spec).sleep };
  }

  function canSleep(key: ManifestKey): boolean {
    const manifest = key.kind === "deployment" ? store.manifests.get(key) : undefined;
    return manifest !== undefined && podOf(manifest)?.sleep !== undefined;
  }

  /** One look at every app that is awake. Returns how long nothing can become due. */
  async function look(): Promise<number> {
    const awake = sleepers().filter(({ head }) => store.sleep.get(head)?.asleep !== true);
    const keys = new Set(awake.map(({ head }) => keyText(head)));
    for (const key of seen.keys()) if (!keys.has(key)) seen.delete(key);
    const idling = awake.flatMap(({ head, policy: { idleMs, idleText } }) =>
      idleMs === undefined ? [] : [{ head, idleMs, idleText }],
    );
    if (idling.length === 0) return limits.sleepLookMaxMs;
    const use = await context.ingressUse?.().catch(() => undefined);
    let nextMs = limits.sleepLookMaxMs;
    for (const one of idling) {
      const leftMs = await lookAt(one, use?.(one.head)).catch((error: unknown) => {
        log.warn("app not put to sleep", { key: formatKey(one.head), error });
        return limits.sleepLookMaxMs;
      });
      // Often enough that the last use is known well.
      nextMs = Math.min(nextMs, Math.max(leftMs, limits.sleepLookMinMs), one.idleMs / looksPerIdle);
    }
    return Math.max(nextMs, limits.sleepLookMinMs);
  }

  async function lookAt(
    { head, idleMs, idleText }: { head: ManifestHead; idleMs: number; idleText: string },
    use: { mark: string; active: number } | undefined,
  ): Promise<number> {
    const key = keyText(head);
    const woken = store.sleep.get(head)?.since;
    const before = seen.get(key);
    const { seen: now, leftMs } = decideSleep({
      before: before?.woken === woken ? before : undefined,
      use,
      isSettled: isSettled(context, head),
      idleMs,
      now: clock.steady(),
    });
    seen.set(key, { ...now, woken });
    if (leftMs > 0) return leftMs;
    if (await isBusy(context, head)) {
      seen.set(key, { ...now, usedAt: clock.steady(), woken });
      return idleMs;
    }
    await context.store.write((tx) => {
      // Written, deleted or stopped meanwhile: the next look is about what is stored then.
      if (tx.manifests.get(head)?.revision !== head.revision || tx.frozen.list(head).length > 0) return;
      putToSleep(tx, head, { actor: "ingress", why: `${idleText} without requests`, now: clock.now() });
    });
    return limits.sleepLookMaxMs;
  }

  return {
    stateOf(key) {
      const state = store.sleep.get(key);
      const manifest = state === undefined ? undefined : store.manifests.get(key);
      if (state === undefined || manifest === undefined || podOf(manifest)?.sleep === undefined) return undefined;
      return state.asleep || !isCrashing(context, key) ? { asleep: state.asleep, since: state.since } : undefined;
    },
    async requested(key, host) {
      const text = keyText(key);
      if (beingWoken.has(text) || store.sleep.get(key)?.asleep !== true) return;
      beingWoken.add(text);
      try {
        const change = (tx: Transaction) =>
          wake(tx, key, { actor: "ingress", why: `a request to ${host}`, now: clock.now() });
        // Lost in a power cut, it is asleep again, and the next request wakes it.
        await store.write(change, { durable: false });
      } finally {
        beingWoken.delete(text);
      }
    },
    async run(signal) {
      const waker = createWaker();
      const leave = store.subscribe((keys) => {
        if (keys.some(canSleep)) waker.wake();
      });
      while (!signal.aborted) {
        const sooner = waker.round(signal);
        const pauseMs = await look().catch((error: unknown) => {
          log.warn("no app is put to sleep", { error });
          return limits.sleepLookMaxMs;
        });
        // However much is written, not more often than this.
        await clock.sleep(limits.sleepLookMinMs, signal);
        await clock.sleep(pauseMs - limits.sleepLookMinMs, sooner);
      }
      leave();
    },
  };
}

/** After the first crash it may just have been too early, for example for its database. */
const crashesTolerated = 1;

function isCrashing({ pods, progress }: Context, key: ManifestKey): boolean {
  const replicas = pods.of(key).filter(({ role }) => role === undefined);
  const attempts = progress.trouble(key)?.attempts ?? 0;
  return attempts > crashesTolerated || replicas.some(({ restarts }) => restarts > crashesTolerated);
}

/** Looks within the time that an app may go unused. */
const looksPerIdle = 8;

function isSettled(context: Context, head: ManifestHead): boolean {
  const look = context.notes.look(head);
  const isOver = latestRelease(context, head)?.endedAt !== undefined;
  const isSeen = look?.revision === head.revision && look.generation === head.generation;
  const isAlone = context.store.canaries.get(head) === undefined;
  return isSeen && isOver && isAlone && look.phase === "ready" && context.store.frozen.list(head).length === 0;
}

/** Requests that workers of the proxy still have which a load of its files has replaced; nothing counts those. */
async function isBusy(context: Context, key: ManifestKey): Promise<boolean> {
  const replicas = context.pods.of(key).filter(({ role }) => role === undefined);
  for (const { id } of replicas) if (await context.ingressGate?.isBusy(id)) return true;
  return false;
}
