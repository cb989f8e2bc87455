import type { Clock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import { Failure, type FailureCode } from "../../../base/wire/failure.ts";
import type { StartThread, ThreadHandle } from "../../../base/words/thread.ts";
import type { LoggedContainer } from "../../collect/logs/capture.ts";
import type { FoundLine } from "../../core/logs/line.ts";
import type { AskedLines, FromLogThread, LogSetup, QuestionName, Questions, ToLogThread } from "./messages.ts";

export type StartLogThread = StartThread<ToLogThread, FromLogThread>;

interface LogThreadOptions {
  start: StartLogThread;
  setup: LogSetup;
  limits: { waitingMax: number; deadlineMs: number; restartMs: number; closeMs: number };
  clock: Clock;
  log: Log;
}

export interface LinesEvent {
  lines: FoundLine[];
  skipped: number;
}

/** The thread that keeps the logs, seen from the one that serves. */
interface LogThread {
  /** Fails `unavailable` when it is not answered in time, and as the thread says otherwise. */
  ask<Q extends QuestionName>(type: Q, ask: Questions[Q]["ask"]): Promise<Questions[Q]["answer"]>;
  /** The stored lines first, then those that come, until `signal` aborts. Throws when the thread ends. */
  follow(
    query: AskedLines,
    tail: number,
    events: { onLines(event: LinesEvent): void; onEnd(error: unknown): void },
  ): () => void;
  watch(containers: LoggedContainer[]): void;
  isRunning(): boolean;
  /** Resolves when what waited is on disk. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(answer: Questions[QuestionName]["answer"]): void;
  reject(error: unknown): void;
}

interface Following {
  onLines(event: LinesEvent): void;
  onEnd(error: unknown): void;
}

const closedNow = () => new Failure("unavailable", "the logs are closed: the server is stopping");
const ended = () => new Failure("unavailable", "the logs are being opened again: try again", { retryAfterSeconds: 1 });

/** Keeps one thread running, and replaces it when it crashes or answers nothing for too long. */
export function createLogThread({ start, setup, limits, clock, log }: LogThreadOptions): LogThread {
  const waiting = new Map<number, Waiting>();
  const following = new Map<number, Following>();
  const closed = new AbortController();
  let containers: LoggedContainer[] = [];
  let handle: ThreadHandle<ToLogThread> | undefined;
  let onClosed = () => {};
  let serial = 0;

  const begin = () => {
    const own = start({ onMessage: receive, onEnd: (error) => fallen(own, error) });
    handle = own;
    own.post({ type: "open", setup });
    own.post({ type: "watch", containers });
  };

  /** No answers come any more: a question that is left without one would keep its caller, and its timer. */
  const refuseAll = (why: () => Failure) => {
    for (const { reject } of waiting.values()) reject(why());
    for (const { onEnd } of following.values()) onEnd(why());
    waiting.clear();
    following.clear();
  };

  const fallen = (own: ThreadHandle<ToLogThread>, error: unknown) => {
    if (handle !== own) return;
    handle = undefined;
    onClosed();
    refuseAll(ended);
    if (closed.signal.aborted) return;
    log.error("the thread of the logs ended and is started again", { error: String(error) });
    void clock.sleep(limits.restartMs, closed.signal).then(() => {
      if (!closed.signal.aborted && handle === undefined) begin();
    });
  };

  const receive = (message: FromLogThread) => {
    if (message.type === "closed") return onClosed();
    const { id } = message;
    if (message.type === "lines") return following.get(id)?.onLines(message);
    const question = waiting.get(id);
    waiting.delete(id);
    if (message.type === "answer") return question?.resolve(message.answer);
    const failure = new Failure(message.code as FailureCode, message.message);
    question?.reject(failure);
    following.get(id)?.onEnd(failure);
    following.delete(id);
  };

  const say = (message: ToLogThread) => {
    if (closed.signal.aborted) throw closedNow();
    if (handle === undefined) throw ended();
    handle.post(message);
  };

  /** Silence for this long is a hang: nothing that it does takes so long in one go. */
  async function watchdog(id: number, over: AbortSignal): Promise<void> {
    const own = handle;
    await clock.sleep(limits.deadlineMs, over);
    if (!waiting.has(id) || own === undefined) return;
    own.end();
    fallen(own, "it answered nothing for too long");
  }

  begin();
  return {
    async ask(type, ask) {
      if (waiting.size >= limits.waitingMax)
        throw new Failure("unavailable", "too many questions about logs at one time: try again", {
          retryAfterSeconds: 1,
        });
      const id = ++serial;
      const over = new AbortController();
      try {
        return await new Promise<Questions[typeof type]["answer"]>((resolve, reject) => {
          waiting.set(id, { resolve: resolve as Waiting["resolve"], reject });
          say({ type, id, ask } as ToLogThread);
          void watchdog(id, over.signal);
        });
      } finally {
        waiting.delete(id);
        over.abort();
      }
    },
    follow(query, tail, events) {
      const id = ++serial;
      following.set(id, events);
      try {
        say({ type: "follow", id, query, tail });
      } catch (error) {
        following.delete(id);
        throw error;
      }
      return () => {
        if (following.delete(id)) handle?.post({ type: "cancel", id });
      };
    },
    watch(now) {
      containers = now;
      handle?.post({ type: "watch", containers });
    },
    isRunning: () => handle !== undefined,
    async close() {
      closed.abort();
      const own = handle;
      if (own === undefined) return;
      const done = new Promise<void>((resolve) => {
        onClosed = resolve;
      });
      own.post({ type: "close" });
      // A wait that goes on would keep the process of a server that has stopped.
      const over = new AbortController();
      await Promise.race([done, clock.sleep(limits.closeMs, over.signal)]);
      over.abort();
      handle = undefined;
      own.end();
      refuseAll(closedNow);
    },
  };
}
