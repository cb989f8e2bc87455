import { isoTime, spanTimes } from "../../../base/pure/iso-time.ts";
import { createBroadcast } from "../../../base/words/broadcast.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { Log } from "../../../base/words/log.ts";
import { keyOf, keyText } from "../../../orchestration/api/manifest-key.ts";
import type { AppRef } from "../../api/app-model.ts";
import type { Operation } from "../../api/operations.ts";
import { type Goal, progressOf } from "../../core/apps/operation.ts";
import { mayReach } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { AppsLimits } from "./limits.ts";
import type { AppModel } from "./model.ts";

/** Changes that were begun through the plane, and how far each is. In memory: a restart of the server forgets them. */
export interface Operations {
  begin(what: Begun): Operation;
  /** An operation that ends with `work`; what the work says meanwhile is its text. */
  attend(what: { type: string; app: AppRef; actor: string }, work: Work): Operation;
  /** Fails `not_found`, also for one that is out of reach. */
  get(grant: Grant, id: string): Operation;
  /** Newest first. */
  list(grant: Grant, filter: (app: AppRef) => boolean): Operation[];
  subscribe(listener: (operation: Operation) => void): () => void;
  run(signal: AbortSignal): Promise<void>;
}

interface Begun {
  type: string;
  app: AppRef;
  actor: string;
  goal: Goal;
  release?: string | undefined;
}

/** Resolves with how it ended. What it fails with is the error of the operation. */
type Work = (say: (text: string) => void) => Promise<Pick<Operation, "text" | "output" | "run_id">>;

interface OperationsParts {
  model: AppModel;
  clock: SteadyClock;
  log: Log;
  limits: AppsLimits;
  randomBytes: (count: number) => Uint8Array;
}

interface Entry {
  operation: Operation;
  /** Undefined for one that ends with work of its own. */
  goal: Goal | undefined;
  startedAt: number;
  /** The app was known since. */
  seen: boolean;
}

export function createOperations({ model, clock, log, limits, randomBytes }: OperationsParts): Operations {
  const changes = createBroadcast<Operation>((error) => log.error("listener of operations failed", { error }));
  /** By id, oldest first. */
  const entries = new Map<string, Entry>();
  const running = new Set<Entry>();

  function look(entry: Entry): void {
    const { operation, goal, startedAt } = entry;
    if (goal === undefined) return;
    const known = model.get(operation.app);
    // A new app is not known at once; what was never seen has not been deleted.
    if (known !== undefined) entry.seen = true;
    else if (!entry.seen && goal.type !== "gone" && clock.now() - startedAt <= limits.operationMs) return;
    const progress = progressOf(goal, known);
    const isLate = progress.state === "running" && clock.now() - startedAt > limits.operationMs;
    const text = isLate ? `${progress.text}; it is not followed any longer and goes on by itself` : progress.text;
    const state = isLate ? "failed" : progress.state;
    if (state === operation.state && text === operation.text) return;
    const isOver = state !== "running";
    if (isOver) running.delete(entry);
    entry.operation = {
      ...operation,
      state,
      text,
      ...(isOver ? spanTimes(startedAt, clock.now()) : {}),
      ...(state === "failed" ? { error: text } : {}),
    };
    changes.publish(entry.operation);
  }

  model.subscribe((change) => {
    if (change.type !== "looked" && change.type !== "gone") return;
    const key = keyText(change.ref);
    for (const entry of [...running]) if (keyText(entry.operation.app) === key) look(entry);
  });

  function put({ type, app, actor, release }: Omit<Begun, "goal">, goal: Goal | undefined): Entry {
    const id = `op-${Buffer.from(randomBytes(8)).toString("hex")}`;
    const startedAt = clock.now();
    const first: Operation = {
      ...{ id, type, app: keyOf(app), state: "running", text: "about to begin", actor },
      started_at: isoTime(startedAt),
      ...(release === undefined ? {} : { release }),
    };
    const entry: Entry = { operation: first, goal, startedAt, seen: false };
    entries.set(id, entry);
    running.add(entry);
    const [oldest] = entries.size > limits.operationsKept ? entries.keys() : [];
    const gone = oldest === undefined ? undefined : entries.get(oldest);
    if (gone !== undefined) {
      running.delete(gone);
      entries.delete(gone.operation.id);
    }
    changes.publish(first);
    return entry;
  }

  return {
    begin({ goal, ...what }) {
      const entry = put(what, goal);
      look(entry);
      return entry.operation;
    },
    attend(what, work) {
      const entry = put(what, undefined);
      const become = (change: Partial<Operation>) => {
        entry.operation = { ...entry.operation, ...change };
        changes.publish(entry.operation);
      };
      const end = (change: Partial<Operation>) => {
        running.delete(entry);
        become({ ...change, ...spanTimes(entry.startedAt, clock.now()) });
      };
      work((text) => become({ text })).then(
        (done) => end({ state: "succeeded", ...done }),
        (error: unknown) => {
          const text = error instanceof Error ? error.message : String(error);
          end({ state: "failed", text, error: text });
        },
      );
      return entry.operation;
    },
    get(grant, id) {
      const found = entries.get(id)?.operation;
      if (found !== undefined && mayReach(grant, found.app)) return found;
      throw new Failure(
        "not_found",
        `no operation "${id}": the last ${limits.operationsKept} since the start are known`,
      );
    },
    list: (grant, filter) =>
      [...entries.values()]
        .map(({ operation }) => operation)
        .filter(({ app }) => mayReach(grant, app) && filter(app))
        .reverse(),
    subscribe: changes.subscribe,
    async run(signal) {
      while (!signal.aborted) {
        for (const entry of [...running]) look(entry);
        await sleepAbout(clock, limits.sampleMs, signal);
      }
    },
  };
}
