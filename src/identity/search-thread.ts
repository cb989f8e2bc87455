import { Failure } from "../api/failure.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { FromSearchThread, SearchSetup, ToSearchThread } from "../store/identity/search/messages.ts";
import type { SearchRequest, SearchResult } from "../store/identity/search/request.ts";

/** A thread that was started: what is said to it, and how to be rid of it. */
export interface ThreadHandle {
  post(message: ToSearchThread): void;
  /** At once, whatever it is doing. */
  end(): void;
}

export interface ThreadEvents {
  onMessage(message: FromSearchThread): void;
  /** It ended by itself. */
  onEnd(error: unknown): void;
}

export type StartThread = (events: ThreadEvents) => ThreadHandle;

export interface SearchThreadOptions {
  start: StartThread;
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

interface Waiting {
  resolve(result: SearchResult): void;
  reject(error: Failure): void;
  /** Messages that had come from the thread when it was asked. */
  heard: number;
  over: AbortController;
}

interface Life {
  handle: ThreadHandle;
  heard: number;
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
  const { start, setup, clock, log } = options;
  const waiting = new Map<number, Waiting>();
  let life: Life | undefined;
  let lastId = 0;
  let closed = false;

  function living(): Life {
    if (life !== undefined) return life;
    const born: Life = {
      heard: 0,
      handle: start({
        onMessage(message) {
          if (life !== born) return;
          born.heard += 1;
          receive(message);
        },
        onEnd(error) {
          if (life !== born) return;
          log.error("search thread ended", { error });
          giveUp();
        },
      }),
    };
    life = born;
    born.handle.post({ type: "open", setup });
    return born;
  }

  function receive(message: FromSearchThread): void {
    switch (message.type) {
      case "found":
        settle(message.id, ({ resolve }) => resolve({ body: message.body, next: message.next }));
        break;
      case "gave_up":
        settle(message.id, ({ reject }) => reject(unavailable(texts[message.why])));
        break;
      case "failed":
        log.error("search failed", { error: message.text });
        if (message.id !== undefined) settle(message.id, ({ reject }) => reject(unavailable(texts.ended)));
        break;
      case "indexed":
        options.onIndexed(message.changes);
        break;
      case "ready":
      case "closed":
        break;
    }
  }

  function settle(id: number, how: (one: Waiting) => void): void {
    const one = waiting.get(id);
    if (one === undefined) return;
    waiting.delete(id);
    one.over.abort();
    how(one);
  }

  /** The next search starts another one. */
  function giveUp(): void {
    life?.handle.end();
    life = undefined;
    for (const id of [...waiting.keys()]) settle(id, (one) => one.reject(unavailable(texts.ended)));
  }

  async function watch(id: number, one: Waiting): Promise<void> {
    await clock.sleep(options.deadlineMs, one.over.signal);
    if (!waiting.has(id)) return;
    const silent = life?.heard === one.heard;
    life?.handle.post({ type: "cancel", id });
    settle(id, ({ reject }) => reject(unavailable(texts.late)));
    if (!silent) return;
    log.error("search thread hangs and is replaced", { waited_ms: options.deadlineMs });
    giveUp();
  }

  return {
    wake() {
      if (!closed) living();
    },
    run: (request) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(unavailable(texts.ended));
        if (waiting.size >= setup.searchesMax) return reject(unavailable(texts.busy));
        const { handle, heard } = living();
        lastId += 1;
        const one = { resolve, reject, heard, over: new AbortController() };
        waiting.set(lastId, one);
        handle.post({ type: "search", id: lastId, request });
        void watch(lastId, one);
      }),
    close() {
      closed = true;
      life?.handle.post({ type: "close" });
      giveUp();
    },
  };
}

function unavailable(message: string): Failure {
  return new Failure("unavailable", message, { retryAfterSeconds: 2 });
}
