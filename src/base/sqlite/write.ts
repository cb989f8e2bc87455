import type { Database } from "bun:sqlite";
import { Failure } from "../wire/failure.ts";
import { sqliteFailure } from "./sqlite-failure.ts";

/** The keys that one change moved; a change that fails leaves none. */
interface Moves<Key> {
  add(key: Key): void;
}

export interface WriteOptions {
  /**
   * True by default. False for what is made again by itself, such as a status: it outlives the end of the process, but
   * perhaps not a power cut, and costs a fraction.
   */
  durable?: boolean;
}

interface WriterOptions<Key> {
  db: Database;
  file: string;
  /** Told after each commit that moved something, each key once. */
  onMoved: (keys: Key[]) => void;
  /** Equal keys have equal texts. */
  keyText: (key: Key) => string;
  /** Told before each transaction. */
  onBegin?: () => void;
  /** Told after each commit, before anybody else: what was read earlier may have changed. */
  onCommitted?: () => void;
  /** Told whenever writes were undone: what was read meanwhile may not be true. */
  onUndone: () => void;
  /**
   * How long changes that need not be durable wait for one that must be, and then share its commit: milliseconds, 0 by
   * default.
   */
  gatherMs?: number;
}

export interface Writer<Key> {
  write<T>(change: (moves: Moves<Key>) => T, options?: WriteOptions): Promise<T>;
  /** Runs what waits now; whatever comes later fails `unavailable`. */
  close(): void;
}

interface Waiting<Key> {
  durable: boolean;
  /** Runs the change; returns what to call once it is durable. */
  run(moves: Moves<Key>): () => void;
  reject(error: unknown): void;
}

/** Changes per commit: one commit holds up everything else for as long as it takes. */
const batchMax = 256;

/**
 * Group commit: changes that wait together share one transaction and one sync to disk, each in a savepoint of its own.
 * They are run in the order of their calls, one tick after the first came that must be durable.
 */
export function createWriter<Key>(options: WriterOptions<Key>): Writer<Key> {
  const { gatherMs = 0 } = options;
  const steps = prepareSteps(options.db);
  let waiting: Waiting<Key>[] = [];
  let isDue = false;
  let gathering: Timer | undefined;
  const runSome = () => {
    isDue = false;
    clearTimeout(gathering);
    gathering = undefined;
    const batch = waiting.slice(0, batchMax);
    waiting = waiting.slice(batchMax);
    if (waiting.length > 0) runSoon();
    if (batch.length > 0) runBatch(options, steps, batch);
  };
  const runSoon = () => {
    if (!isDue) setImmediate(runSome);
    isDue = true;
  };
  let closed = false;
  return {
    close() {
      closed = true;
      while (waiting.length > 0) runSome();
    },
    write: (change, { durable = true } = {}) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new Failure("unavailable", "the store is closed: the server is stopping"));
        const run = (moves: Moves<Key>) => {
          const result = change(moves);
          if (result instanceof Promise) throw new TypeError("a change must be synchronous: it returned a promise");
          return () => resolve(result);
        };
        waiting.push({ run, reject, durable });
        if (durable || gatherMs === 0) runSoon();
        else if (!isDue) gathering ??= setTimeout(runSome, gatherMs);
      }),
  };
}

type Steps = ReturnType<typeof prepareSteps>;

function prepareSteps(db: Database) {
  const step = (sql: string) => {
    const statement = db.query<unknown, []>(sql);
    return () => statement.run();
  };
  let synced = true;
  return {
    begin: step("begin immediate"),
    /** Not inside a transaction. A synced commit takes all earlier ones to the disk with it. */
    sync(wanted: boolean) {
      if (wanted === synced) return;
      db.run(`pragma synchronous = ${wanted ? "full" : "normal"}`);
      synced = wanted;
    },
    commit: step("commit"),
    rollback: step("rollback"),
    savepoint: step("savepoint change"),
    release: step("release change"),
    undo: step("rollback to change"),
  };
}

function runBatch<Key>(options: WriterOptions<Key>, steps: Steps, batch: Waiting<Key>[]): void {
  const moved = new Map<string, Key>();
  const committed: (() => void)[] = [];
  const refused = new Set<Waiting<Key>>();
  try {
    options.onBegin?.();
    steps.sync(batch.some(({ durable }) => durable));
    steps.begin();
    const alone = batch.length === 1;
    for (const waiting of batch) {
      // A change that is alone needs no savepoint: the transaction is its own.
      const outcome = alone ? runChange(options, waiting) : runInSavepoint(options, steps, waiting);
      if ("error" in outcome) {
        refused.add(waiting);
        waiting.reject(outcome.error);
        continue;
      }
      committed.push(outcome.resolve);
      for (const [id, key] of outcome.moved) moved.set(id, key);
    }
    steps.commit();
  } catch (error) {
    if (options.db.inTransaction) steps.rollback();
    options.onUndone();
    const failure = sqliteFailure(error, options.file);
    for (const waiting of batch) if (!refused.has(waiting)) waiting.reject(failure);
    return;
  }
  options.onCommitted?.();
  for (const resolve of committed) resolve();
  if (moved.size > 0) options.onMoved([...moved.values()]);
}

interface Done<Key> {
  resolve: () => void;
  moved: Map<string, Key>;
}

function runChange<Key>({ keyText }: WriterOptions<Key>, waiting: Waiting<Key>): Done<Key> {
  const moved = new Map<string, Key>();
  const resolve = waiting.run({ add: (key) => moved.set(keyText(key), key) });
  return { resolve, moved };
}

function runInSavepoint<Key>(
  options: WriterOptions<Key>,
  steps: Steps,
  waiting: Waiting<Key>,
): Done<Key> | { error: unknown } {
  const { db, file, onUndone } = options;
  steps.savepoint();
  try {
    const done = runChange(options, waiting);
    steps.release();
    return done;
  } catch (error) {
    // A full disk ends the whole transaction, not only the statement: then no change is left to commit.
    if (!db.inTransaction) throw error;
    steps.undo();
    steps.release();
    onUndone();
    return { error: sqliteFailure(error, file) };
  }
}
