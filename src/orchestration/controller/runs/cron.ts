import { createWaker } from "../../../base/words/abort.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { Context } from "../state/context.ts";
import { type CronLooked, lookAtCronjob } from "./cron-look.ts";
import { cancelReplaced } from "./jobs.ts";
import { type KeyText, keyText } from "../../api/manifest-key.ts";

/** Starts the runs of cron jobs at their instants. */
interface Cron {
  /** Until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface Entry {
  key: ManifestKey;
  revision: number;
  /** Epoch milliseconds of the next instant; undefined while there is none. */
  next: number | undefined;
}

/** Longest sleep: the wall clock may jump, and what was overlooked is found after this. */
const lookMs = 60_000;
const retryMs = 1_000;
/** Less than this is a clock that is being adjusted, not one that was set. */
const clockStepMs = 1_000;

/**
 * One timer for the earliest instant of all cron jobs. What is due is decided inside one transaction per cron job,
 * rows before containers; what this server knows by heart is only when to look next.
 */
export function createCron(context: Context): Cron {
  const { store, clock, log } = context;
  const entries = new Map<KeyText, Entry>();
  const waker = createWaker();
  let lastNow = clock.now();

  /** Forgets what was deleted; has whatever is new or changed looked at with the next round, all when the clock went back. */
  function compare(): void {
    const now = clock.now();
    if (now < lastNow - clockStepMs) for (const entry of entries.values()) entry.next = now;
    lastNow = now;
    const heads = store.manifests.heads().filter(({ kind }) => kind === "cronjob");
    const present = new Set(heads.map(keyText));
    for (const text of entries.keys()) if (!present.has(text)) entries.delete(text);
    for (const { kind, scope, name, revision } of heads) {
      if (entries.get(keyText({ kind, scope, name }))?.revision === revision) continue;
      entries.set(keyText({ kind, scope, name }), { key: { kind, scope, name }, revision, next: now });
    }
  }

  /**
   * Writes down what is due, all in one commit; what is to be started comes back, so that no start holds up the rows of
   * the others. Where one cannot be written, each is tried alone.
   */
  async function look(due: Entry[]): Promise<CronLooked["started"]> {
    try {
      const looked = await store.write((tx) => {
        const now = clock.now();
        return due.map(({ key }) => lookAtCronjob(context, tx, { key, now }));
      });
      for (const [index, entry] of due.entries()) entry.next = looked[index]?.next;
      return looked.flatMap(({ started }) => started);
    } catch (error) {
      if (due.length > 1) return (await Promise.all(due.map((entry) => look([entry])))).flat();
      for (const entry of due) {
        log.error("cron job not looked at", { key: formatKey(entry.key), error });
        entry.next = clock.now() + retryMs;
      }
      return [];
    }
  }

  function earliest(): number | undefined {
    let least: number | undefined;
    for (const { next } of entries.values()) if (next !== undefined && next < (least ?? next + 1)) least = next;
    return least;
  }

  async function round(): Promise<void> {
    const now = clock.now();
    const due = [...entries.values()].filter(({ next }) => next !== undefined && next <= now);
    // Another server may act since the network is back.
    if (due.length > 0 && !(await context.gate.isSurelyOpen())) {
      for (const entry of due) entry.next = now + retryMs;
      return;
    }
    const started = due.length === 0 ? [] : await look(due);
    for (const { run, replaced } of started) context.jobs.begin(run, cancelReplaced(context, replaced, run));
  }

  return {
    async run(signal) {
      const unsubscribe = store.subscribe((keys) => {
        if (keys.some(({ kind }) => kind === "cronjob")) waker.wake();
      });
      while (!signal.aborted) {
        const sooner = waker.round(signal);
        // First of all: a job that is due must not wait for the comparison.
        await round();
        compare();
        const waitMs = Math.min(lookMs, (earliest() ?? Number.POSITIVE_INFINITY) - clock.now());
        if (waitMs > 0) await clock.sleep(waitMs, sooner);
      }
      unsubscribe();
    },
  };
}
