import { type Backoff, type BackoffOptions, createBackoff } from "./backoff.ts";
import type { Clock } from "./clock.ts";

export interface Retry {
  /** Failed runs in a row. */
  attempts: number;
  /** Wait before the next one; undefined when there is none. */
  inMs: number | undefined;
}

export interface QueueOptions<K extends string> {
  /** Most runs at one time. */
  workers: number;
  /** Does the work of one key; `againInMs` asks for another run. `signal` aborts when the queue closes. */
  run: (key: K, signal: AbortSignal) => Promise<{ againInMs?: number | undefined } | undefined>;
  /** Told of every failed run. Must not throw. */
  onError: (key: K, error: unknown, retry: Retry) => void;
  /** True for errors that no retry can fix: the key rests until the next `add`. Default: none. */
  isTerminal?: (error: unknown) => boolean;
  backoff: BackoffOptions;
  clock: Clock;
}

/**
 * A work queue of names: what is to be done is read when the work starts, so adding a key twice is adding it once.
 * The same key never runs twice at once; different keys run side by side; failures are retried for ever.
 */
interface Queue<K extends string> {
  /** Runs the key as soon as a worker is free, instead of waiting for its retry; once more when it is running. */
  add(key: K): void;
  /** Adds the key in `ms`, whatever happens until then; of several such wishes the earliest counts. */
  addAfter(key: K, ms: number): void;
  /** Resolves when nothing runs or waits for a worker. Timers do not count. */
  idle(): Promise<void>;
  /** Keys that run or wait for a worker. */
  readonly size: number;
  /** Keys whose last run failed. */
  readonly failing: number;
  /** Drops what waits, aborts what runs, and resolves when that has ended. Errors of those runs are not reported. */
  close(): Promise<void>;
}

export function createQueue<K extends string>(options: QueueOptions<K>): Queue<K> {
  const closing = new AbortController();
  const failures = new Map<K, Backoff>();
  const pool = createPool<K>(options.workers, work);
  /** Waits that the last run asked for: an add makes them pointless. */
  const reruns = createTimers<K>(options.clock, add);
  /** Waits that others asked for: kept until they end. */
  const wishes = createTimers<K>(options.clock, add);

  function add(key: K): void {
    if (closing.signal.aborted) return;
    reruns.cancel(key);
    pool.add(key);
  }

  async function work(key: K): Promise<void> {
    const againInMs = await attempt({ key, options, failures, signal: closing.signal });
    // Added meanwhile, it runs at once.
    if (againInMs !== undefined && !closing.signal.aborted && !pool.isWaiting(key)) reruns.set(key, againInMs);
  }

  return {
    add,
    addAfter(key, ms) {
      if (closing.signal.aborted) return;
      if (ms <= 0) add(key);
      else wishes.setEarliest(key, ms);
    },
    idle: pool.idle,
    close() {
      closing.abort();
      reruns.cancelAll();
      wishes.cancelAll();
      pool.clear();
      return pool.idle();
    },
    get size() {
      return pool.size();
    },
    get failing() {
      return failures.size;
    },
  };
}

interface Attempt<K extends string> {
  key: K;
  options: QueueOptions<K>;
  failures: Map<K, Backoff>;
  signal: AbortSignal;
}

/** One run. Returns in how many ms another is due; undefined when none is. */
async function attempt<K extends string>({ key, options, failures, signal }: Attempt<K>): Promise<number | undefined> {
  try {
    const outcome = await options.run(key, signal);
    failures.delete(key);
    return outcome?.againInMs;
  } catch (error) {
    if (signal.aborted) return undefined;
    const tries = failures.get(key) ?? createBackoff(options.backoff);
    failures.set(key, tries);
    const retryInMs = tries.next();
    const inMs = options.isTerminal?.(error) ? undefined : retryInMs;
    options.onError(key, error, { attempts: tries.failures, inMs });
    return inMs;
  }
}

interface Pool<K> {
  add(key: K): void;
  /** True when a run of the key is yet to begin. */
  isWaiting(key: K): boolean;
  /** Forgets what has not begun. */
  clear(): void;
  idle(): Promise<void>;
  size(): number;
}

/** Runs `work`, which must not reject, on at most `workers` keys at a time and never twice at once on one. */
function createPool<K>(workers: number, work: (key: K) => Promise<void>): Pool<K> {
  const waiting = new Set<K>();
  const running = new Set<K>();
  let idlers: (() => void)[] = [];
  let isDue = false;

  function startDue(): void {
    isDue = false;
    startNext();
  }

  function startNext(): void {
    for (const key of waiting) {
      if (running.size >= workers) break;
      if (!running.has(key)) void start(key);
    }
    if (waiting.size + running.size > 0) return;
    for (const wake of idlers) wake();
    idlers = [];
  }

  async function start(key: K): Promise<void> {
    waiting.delete(key);
    running.add(key);
    try {
      await work(key);
    } finally {
      running.delete(key);
      startNext();
    }
  }

  return {
    add(key) {
      waiting.add(key);
      // In a later turn of the event loop: a key that is added twice in a row starts once, and the answer to the request
      // that added it is sent first.
      if (!isDue) setImmediate(startDue);
      isDue = true;
    },
    isWaiting: (key) => waiting.has(key),
    clear() {
      waiting.clear();
      startNext();
    },
    idle: () => (waiting.size + running.size === 0 ? Promise.resolve() : new Promise((wake) => idlers.push(wake))),
    size: () => new Set([...waiting, ...running]).size,
  };
}

interface Timers<K> {
  set(key: K, ms: number): void;
  /** Leaves a timer that ends earlier as it is. */
  setEarliest(key: K, ms: number): void;
  cancel(key: K): void;
  cancelAll(): void;
}

/** The longest wait a timer of the platform can hold; a longer one ends early, which costs one run too many. */
const longestMs = 2 ** 31 - 1;

/** One timer per key, each calling `due` at its end. */
function createTimers<K>(clock: Clock, due: (key: K) => void): Timers<K> {
  const waiting = new Map<K, { at: number; abort: AbortController }>();

  function cancel(key: K): void {
    waiting.get(key)?.abort.abort();
    waiting.delete(key);
  }

  function set(key: K, ms: number): void {
    cancel(key);
    const timer = { at: clock.now() + ms, abort: new AbortController() };
    waiting.set(key, timer);
    void clock.sleep(Math.min(Math.max(0, ms), longestMs), timer.abort.signal).then(() => {
      if (waiting.get(key) !== timer) return;
      waiting.delete(key);
      due(key);
    });
  }

  return {
    set,
    setEarliest(key, ms) {
      const earlier = waiting.get(key);
      if (earlier === undefined || earlier.at > clock.now() + ms) set(key, ms);
    },
    cancel,
    cancelAll() {
      for (const key of [...waiting.keys()]) cancel(key);
    },
  };
}
