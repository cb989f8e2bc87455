import { formatKey, type ManifestKey, sameKey } from "../../api/manifest.ts";
import type { Clock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import type { RunRecord, Store } from "../../store/store.ts";

/** Runs that this server carries out. */
export interface JobTable {
  /** Carries out a run whose row is written, once `after` has settled. */
  begin(run: RunRecord, after?: Promise<unknown>): void;
  /** The record at the end of a run under way; undefined when the server stops before, or when none such is known. */
  ended(id: string): Promise<RunRecord | undefined>;
  /** The record of a run that this server brought to its end, also when no history keeps it; the newest few. */
  remembered(id: string): RunRecord | undefined;
  /** Ends a run under way and resolves when its container is gone; `why` becomes the text of its record. */
  cancel(id: string, why: string): Promise<RunRecord | undefined>;
  /** The same for every run of the resource. */
  cancelAll(key: ManifestKey, why: string): Promise<void>;
  /** The engine is back: no run has to wait for the next look. */
  engineUp(): void;
  /** Takes up what an earlier server left unfinished, and releases everything when `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** The signals for the code that carries out a run. */
export interface RunSignals {
  /** Ends the run; the reason of the abort is the text of its record. */
  cancel: AbortSignal;
  /** The server stops: the container runs on, the row stays as it is. */
  leave: AbortSignal;
  /** Aborts when the engine comes back. */
  engineBack: () => AbortSignal;
}

interface TableOptions {
  store: Store;
  clock: Clock;
  log: Log;
  /** Brings a run to its end; undefined when it was left. Rejects when the store cannot be written. */
  carryOut: (run: RunRecord, signals: RunSignals) => Promise<RunRecord | undefined>;
}

interface Entry {
  run: RunRecord;
  cancel: AbortController;
  end: Promise<RunRecord | undefined>;
}

const storeRetryMs = 1_000;
/** Long enough for a client that asks for a run to hear of its end. */
const rememberedMax = 200;

export function createJobTable({ store, clock, log, carryOut }: TableOptions): JobTable {
  const entries = new Map<string, Entry>();
  const recent = new Map<string, RunRecord>();
  const leaving = new AbortController();
  let engineBack = new AbortController();

  async function work(run: RunRecord, cancel: AbortSignal): Promise<RunRecord | undefined> {
    const signals = { cancel, leave: leaving.signal, engineBack: () => engineBack.signal };
    for (let now = run; ; now = store.runs.get(run.id) ?? now) {
      try {
        return await carryOut(now, signals);
      } catch (error) {
        log.error("run not recorded", { key: formatKey(run), run: run.id, error });
        await clock.sleep(storeRetryMs, leaving.signal);
        if (leaving.signal.aborted) return undefined;
      }
    }
  }

  function remember(run: RunRecord | undefined): RunRecord | undefined {
    if (run !== undefined) recent.set(run.id, run);
    for (const id of recent.keys()) if (recent.size > rememberedMax) recent.delete(id);
    return run;
  }

  function begin(run: RunRecord, after: Promise<unknown> = Promise.resolve()): void {
    if (leaving.signal.aborted || entries.has(run.id)) return;
    const cancel = new AbortController();
    const end = after
      .catch(() => undefined)
      .then(() => work(run, cancel.signal))
      .then(remember)
      .finally(() => entries.delete(run.id));
    entries.set(run.id, { run, cancel, end });
  }

  async function cancel(id: string, why: string): Promise<RunRecord | undefined> {
    const entry = entries.get(id);
    entry?.cancel.abort(why);
    return entry?.end;
  }

  return {
    begin,
    engineUp() {
      engineBack.abort();
      engineBack = new AbortController();
    },
    cancel,
    remembered: (id) => recent.get(id),
    ended: async (id) => entries.get(id)?.end,
    async cancelAll(key, why) {
      const own = [...entries.values()].filter(({ run }) => sameKey(run, key));
      await Promise.all(own.map(({ run }) => cancel(run.id, why)));
    },
    async run(signal) {
      for (const run of store.runs.unfinished()) begin(run);
      await new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      leaving.abort();
      await Promise.all([...entries.values()].map(({ end }) => end));
    },
  };
}
