import { Failure } from "../../base/wire/failure.ts";
import type { Clock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import type { StartThread, ThreadHandle } from "../../base/words/thread.ts";
import type { FromSearchThread, SearchSetup, ToSearchThread } from "../store/search/messages.ts";
import type { SearchRequest, SearchResult } from "../store/search/request.ts";

export type StartSearchThread = StartThread<ToSearchThread, FromSearchThread>;

interface SearchThreadOptions {
  start: StartSearchThread;
  setup: SearchSetup;
  /** Longest time from the question to the answer. */
  deadlineMs: number;
  clock: Clock;
  log: Log;
  /** Changes up to this number are in the indexes. */
  onIndexed: (changes: number) => void;
}

/** The thread that searches, seen from the one that serves. */
export interface SearchThreadClient {
  /** Fails `unavailable`, with a time to come back, when it takes too long or too much is asked at the same time. */
  run(request: SearchRequest): Promise<SearchResult>;
  /** Starts the thread when it does not run. */
  wake(): void;
  close(): void;
}

const texts = {
  busy: "too many searches at the same time: try again",
  over_budget: "this search takes too long: ask for more characters of what you look for, or for an exact value",
  late: "the search was not answered in time: try again",
  ended: "the search was interrupted: try again",
};

/**
 * Keeps one thread running and replaces it when it crashes, or says nothing at all for as long as a search may take:
 * whatever happens to it, the thread that serves goes on.
 */
export function createSearchThread(options: SearchThreadOptions): SearchThreadClient {
  const { setup, clock, log } = options;
  const waiting = createWaiting();
  const lives = createLives(options, waiting);
  let closed = false;

  async function watch(id: number, heard: number, over: AbortSignal): Promise<void> {
    await clock.sleep(options.deadlineMs, over);
    if (!waiting.has(id)) return;
    const { handle, heard: now } = lives.current();
    handle.post({ type: "cancel", id });
    waiting.settle(id, ({ reject }) => reject(unavailable(texts.late)));
    if (now !== heard) return;
    log.error("search thread hangs and is replaced", { waited_ms: options.deadlineMs });
    lives.end();
  }

  return {
    wake() {
      if (!closed) lives.current();
    },
    run: (request) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(unavailable(texts.ended));
        if (waiting.size() >= setup.searchesMax) return reject(unavailable(texts.busy));
        const { handle, heard } = lives.current();
        const { id, over } = waiting.add({ resolve, reject });
        handle.post({ type: "search", id, request });
        void watch(id, heard, over);
      }),
    close() {
      closed = true;
      lives.end({ type: "close" });
    },
  };
}

interface Life {
  handle: ThreadHandle<ToSearchThread>;
  /** Messages that have come from it. */
  heard: number;
}

interface Lives {
  /** The thread that runs; started when there is none. */
  current(): Life;
  /** Ends it, after a last word; callers that wait for it are rejected with the advice to retry. */
  end(last?: ToSearchThread): void;
}

function createLives(options: SearchThreadOptions, waiting: WaitingSearches): Lives {
  const { start, setup, log } = options;
  let life: Life | undefined;
  const end: Lives["end"] = (last) => {
    if (last !== undefined) life?.handle.post(last);
    life?.handle.end();
    life = undefined;
    waiting.rejectAll(unavailable(texts.ended));
  };
  const bear = (): Life => {
    // What a thread says that was replaced is not heard any more.
    const isCurrent = () => life === born;
    const handle = start({
      onMessage(message) {
        if (!isCurrent()) return;
        born.heard += 1;
        receive(message, waiting, options);
      },
      onEnd(error) {
        if (!isCurrent()) return;
        log.error("search thread ended", { error });
        end();
      },
    });
    const born: Life = { heard: 0, handle };
    return born;
  };
  return {
    end,
    current() {
      if (life === undefined) {
        life = bear();
        life.handle.post({ type: "open", setup });
      }
      return life;
    },
  };
}

function receive(message: FromSearchThread, waiting: WaitingSearches, options: SearchThreadOptions): void {
  switch (message.type) {
    case "found":
      waiting.settle(message.id, ({ resolve }) => resolve({ body: message.body, next: message.next }));
      break;
    case "gave_up":
      waiting.settle(message.id, ({ reject }) => reject(unavailable(texts[message.why])));
      break;
    case "failed":
      options.log.error("search failed", { error: message.text });
      if (message.id !== undefined) waiting.settle(message.id, ({ reject }) => reject(unavailable(texts.ended)));
      break;
    case "indexed":
      options.onIndexed(message.changes);
      break;
    case "ready":
    case "closed":
      break;
  }
}

interface Answer {
  resolve(result: SearchResult): void;
  reject(error: Failure): void;
}

/** Searches that were asked and not answered yet. */
interface WaitingSearches {
  size(): number;
  has(id: number): boolean;
  /** `over` aborts once it is settled. */
  add(answer: Answer): { id: number; over: AbortSignal };
  settle(id: number, how: (answer: Answer) => void): void;
  rejectAll(error: Failure): void;
}

function createWaiting(): WaitingSearches {
  const waiting = new Map<number, { answer: Answer; over: AbortController }>();
  let lastId = 0;
  const settle: WaitingSearches["settle"] = (id, how) => {
    const one = waiting.get(id);
    if (one === undefined) return;
    waiting.delete(id);
    one.over.abort();
    how(one.answer);
  };
  return {
    size: () => waiting.size,
    has: (id) => waiting.has(id),
    add(answer) {
      lastId += 1;
      const over = new AbortController();
      waiting.set(lastId, { answer, over });
      return { id: lastId, over: over.signal };
    },
    settle,
    rejectAll(error) {
      for (const id of [...waiting.keys()]) settle(id, ({ reject }) => reject(error));
    },
  };
}

function unavailable(message: string): Failure {
  return new Failure("unavailable", message, { retryAfterSeconds: 2 });
}
