import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import { createQueue, type Retry } from "../../../base/words/queue.ts";
import { collectOrphans, createOrphanWatch, endUnattended } from "../rollout/collect.ts";
import type { Context } from "../state/context.ts";
import { type KeyText, keyText, parseKeyText } from "../../api/manifest-key.ts";
import { converge, saveTrouble } from "./converge.ts";
import { collectAssets } from "../rollout/collect-assets.ts";
import { collectImages } from "../desired/images.ts";
import { keepImages } from "../desired/kept-images.ts";
import type { Pod } from "../state/pod.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";

export interface Reconciler {
  enqueue(key: ManifestKey, afterMs?: number): void;
  onEvent(key: ManifestKey, pod: Pod | undefined): void;
  /** Everything is looked at: after a start, when the engine came back, and as a rare deep resync. */
  enqueueAll(): void;
  /** Compares versions and looks only at what moved. Returns how many resources were queued. */
  resync(): Promise<number>;
  /** Runs until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  queued(): number;
  /** Resolves when nothing is queued or running. */
  idle(): Promise<void>;
}

/** A pod that died younger than this may be the victim of the very try that made it. */
const youngMs = 10_000;
/** Every so many resyncs everything is looked at, whatever the versions say. */
const deepEvery = 20;
/** Every so many resyncs images and asset files that are not needed are removed. */
const unusedEvery = 120;
/** A file goes when two looks in a row found no use of it. */
const looksAfterDelete = 2;

/** That the engine is away is said by the link; what was wrong with a resource before is known when it is back, too. */
function isOutage(error: unknown): error is Failure {
  return error instanceof Failure && error.reason === "EngineUnavailable" && !error.anew;
}

/** The level-triggered loop: a queue of names, one worker per name, several names at a time. */
export function createReconciler(context: Context): Reconciler {
  const { store, pods, link, progress, clock, limits, log } = context;
  /** What was true when a resource was last found settled. */
  const settled = new Map<KeyText, string>();
  /** What each resource's present round is about. */
  const begunAt = new Map<KeyText, string>();
  const orphanWatch = createOrphanWatch();
  /** How many resyncs look for unused asset files though it is not their turn: something was deleted. */
  let looksOwed = 0;

  const queue = createQueue<KeyText>({
    workers: limits.reconcileWorkers,
    clock,
    backoff: { firstMs: limits.backoffFirstMs, maxMs: limits.backoffMaxMs, random: Math.random },
    isTerminal: (error) => error instanceof Failure && error.code === "invalid",
    async run(text) {
      const key = parseKeyText(text);
      settled.delete(text);
      const target = targetOf(key);
      const before = target === undefined ? undefined : versionOf(target, text);
      begin(key, target);
      const round = await converge(context, key);
      if (round.settled && before !== undefined) settled.set(text, before);
      return round.againInMs === undefined ? {} : { againInMs: round.againInMs };
    },
    onError(text, error, retry) {
      const key = parseKeyText(text);
      // Written meanwhile: the error is about a spec that is not wanted any more, and the new one is looked at next.
      if (begunAt.get(text) !== targetOf(key)) {
        progress.clearTrouble(key);
        return;
      }
      remember(key, error, retry);
      saveTrouble(context, key).catch((cause) => log.error("status not saved", { key: formatKey(key), cause }));
    },
  });

  /** Changes whenever something about the resource does. */
  function versionOf(target: string, text: KeyText): string {
    return `${target}/${pods.version(text)}`;
  }

  /** What failed before the last write says nothing about what is wanted now. */
  function begin(key: ManifestKey, target: string | undefined): void {
    const text = keyText(key);
    if (begunAt.get(text) !== target) progress.clearTrouble(key);
    if (target === undefined) begunAt.delete(text);
    else begunAt.set(text, target);
  }

  /** Changes with every write that asks for other containers. */
  function targetOf(key: ManifestKey): string | undefined {
    const manifest = store.manifests.get(key);
    return manifest === undefined ? undefined : `${manifest.revision}/${manifest.generation}`;
  }

  function remember(key: ManifestKey, error: unknown, { inMs }: Retry): void {
    const expected = error instanceof Failure;
    if (isOutage(error)) {
      log.info("reconcile waits for the engine", { key: formatKey(key), error: error.message });
      return;
    }
    const attempts = (progress.trouble(key)?.attempts ?? 0) + 1;
    const now = clock.now();
    const message = error instanceof Error ? error.message : String(error);
    progress.setTrouble(key, {
      reason: (expected ? error.reason : undefined) ?? "Other",
      message,
      at: now,
      attempts,
      lasting: expected && error.lasting,
      retryAt: inMs === undefined ? undefined : now + inMs,
    });
    if (expected) log.info("reconcile failed", { key: formatKey(key), error: message, attempts, retry_in_ms: inMs });
    else log.error("reconcile bug", { key: formatKey(key), error, attempts });
  }

  function enqueue(key: ManifestKey, afterMs?: number): void {
    settled.delete(keyText(key));
    if (afterMs === undefined || afterMs <= 0) queue.add(keyText(key));
    else queue.addAfter(keyText(key), afterMs);
  }

  function enqueueAll(): void {
    for (const head of store.manifests.heads()) enqueue(head);
    for (const mark of store.deletions.list()) enqueue(mark);
  }

  /**
   * An event of the engine. What a failing resource's own tries stir up must not run it again at once, past its
   * back-off; the death of a pod that was there before is another matter.
   */
  function onEvent(key: ManifestKey, pod: Pod | undefined): void {
    const own = progress.trouble(key) !== undefined && (pod === undefined || clock.now() - pod.createdAt < youngMs);
    if (!own) enqueue(key);
  }

  async function resync(): Promise<number> {
    await pods.refreshAll();
    let count = 0;
    for (const head of store.manifests.heads()) {
      const text = keyText(head);
      if (settled.get(text) === versionOf(`${head.revision}/${head.generation}`, text)) continue;
      if (progress.trouble(head) !== undefined) continue;
      queue.add(text);
      count++;
    }
    for (const mark of store.deletions.list()) {
      queue.add(keyText(mark));
      count++;
    }
    await collectOrphans(context, orphanWatch);
    await endUnattended(context);
    return count;
  }

  async function tick(count: number): Promise<void> {
    if (!link.up()) return;
    if (count % deepEvery === 0) enqueueAll();
    await resync();
    if (store.collectionHeld) return;
    if (count === 1) await keepImages(context);
    const isTurn = count % unusedEvery === 0;
    if (isTurn) await collectImages(context);
    if (isTurn || looksOwed > 0) await collectAssets(context);
    looksOwed = Math.max(0, looksOwed - 1);
  }

  return {
    enqueue,
    onEvent,
    enqueueAll,
    resync,
    async run(signal) {
      const unsubscribe = store.subscribe((keys) => {
        for (const key of keys) enqueue(key);
        if (keys.some((key) => store.manifests.get(key) === undefined)) looksOwed = looksAfterDelete;
      });
      for (let count = 1; !signal.aborted; count++) {
        await sleepAbout(clock, limits.resyncMs, signal);
        if (signal.aborted) break;
        // The engine link says what is wrong with the engine; here it only means no resync this time.
        await tick(count).catch((error) => {
          log.warn("resync failed", { error });
          // Pings are answered, and yet the engine does not list what runs: nothing can be done with it.
          if (error instanceof Failure && error.code === "timeout") link.doubt(error);
        });
      }
      unsubscribe();
      await queue.close();
    },
    queued: () => queue.size,
    idle: () => queue.idle(),
  };
}
