import { Failure } from "../../../base/wire/failure.ts";
import { createLimit } from "../../../base/words/limit.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import { missingText } from "../../api/missing-lines.ts";
import { createCapture } from "../../collect/logs/capture.ts";
import { cursorText, readCursor } from "../../core/logs/cursor.ts";
import { type CompiledQuery, compileQuery } from "../../core/logs/query.ts";
import type { FoundLine } from "../../core/logs/line.ts";
import { unpackLines } from "../../core/logs/packed-lines.ts";
import { clockLook, clockStart } from "../../core/logs/retention.ts";
import { mayReach } from "../../../access/apps.ts";
import { countLines } from "../../store/logs/histogram.ts";
import { openLogStore } from "../../store/logs/log-store.ts";
import { type MissingLines, missingLines } from "../../store/logs/missing.ts";
import { searchLines } from "../../store/logs/search.ts";
import { createFollowers } from "./followers.ts";
import { missingView } from "./views.ts";
import type {
  AskedLines,
  AskedPage,
  FoundPage,
  FromLogThread,
  LogSetup,
  QuestionName,
  Questions,
  ToLogThread,
} from "./messages.ts";

export interface LogKeeper {
  receive(message: ToLogThread): void;
  /** Reads, stores and sweeps until `signal` aborts; then puts what waits on disk. */
  run(signal: AbortSignal): Promise<void>;
}

interface KeeperParts {
  setup: LogSetup;
  clock: SteadyClock;
  log: Log;
  post: (message: FromLogThread) => void;
}

/** Turns in a row without an end, from which on reading is behind and packs faster. */
const behindTurns = 50;
const catchingUpTurns = 5;

/** Reads, stores and finds the output of pods: what the thread of the logs does. */
export function createLogKeeper({ setup, clock, log, post }: KeeperParts): LogKeeper {
  const { search: limits } = setup;
  const store = openLogStore({ folder: setup.folder, limits: setup.store, log, now: clock.now });
  const followers = createFollowers({ post, linesMax: limits.followLinesMax, spanMs: setup.store.blockMs });
  const sink = {
    ...store,
    add: ((app, line) => {
      store.add(app, line);
      followers.push({ ...line, app });
    }) satisfies typeof store.add,
  };
  const { now, steady } = clock;
  /** Ends the pause between two turns of reading. */
  let wake = () => {};
  const capture = createCapture({ sink, limits: setup.capture, log, now, steady, onWrite: () => wake() });
  /** Turns of reading without an end. */
  let turns = 0;
  const inTurn = createLimit(limits.atOnceMax);
  const cancelled = new Set<number>();

  /** Runs a search in slices, so that reading goes on meanwhile. */
  async function sliced<T>(id: number, search: (stop: () => boolean) => Generator<void, T>): Promise<T> {
    const until = steady() + limits.budgetMs;
    const steps = search(() => steady() > until || cancelled.has(id));
    for (;;) {
      const sliceUntil = steady() + limits.sliceMs;
      let step = steps.next();
      while (step.done !== true && steady() < sliceUntil) step = steps.next();
      if (step.done === true) return step.value;
      await Bun.sleep(0);
    }
  }

  async function page(id: number, { query, cursor, ...asked }: AskedPage): Promise<FoundPage> {
    const request = {
      ...asked,
      query: compiled(query),
      ...(cursor === undefined ? {} : { cursor: readCursor(cursor) }),
    };
    const { lines, next, stoppedAt } = await sliced(id, (stop) => searchLines(store, request, stop));
    // After the search, which finds what is damaged.
    const missing = missingLines(store, request.query);
    return { lines, cursor: next === undefined ? undefined : cursorText(next), stoppedAt, missing };
  }

  async function histogram(id: number, { query: asked, bucketsMax }: Questions["histogram"]["ask"]) {
    const query = compiled(asked);
    const counted = await sliced(id, (stop) => countLines(store, { query, bucketsMax }, stop));
    return { ...counted, missing: missingLines(store, query) };
  }

  const answers: { [Q in QuestionName]: (ask: Questions[Q]["ask"], id: number) => Promise<Questions[Q]["answer"]> } = {
    search: (ask, id) => inTurn(() => page(id, ask)),
    histogram: (ask, id) => inTurn(() => histogram(id, ask)),
    async drain({ id: container }) {
      capture.drain(container);
      return null;
    },
    async ingest({ app, packed }) {
      for (const bytes of packed) for (const line of unpackLines(bytes)) sink.add(app, line);
      store.flushApp(app);
      if (store.state().problem !== undefined)
        throw new Failure("unavailable", "the lines cannot be stored at the moment");
      return null;
    },
    state: async () => ({ store: store.state(), capture: capture.state(), catchingUp: turns > catchingUpTurns }),
  };

  async function answer(id: number, work: () => Promise<Questions[QuestionName]["answer"]>): Promise<void> {
    try {
      post({ type: "answer", id, answer: await work() });
    } catch (error) {
      const { code, message } = error instanceof Failure ? error : { code: "internal", message: String(error) };
      if (!(error instanceof Failure)) log.error("a question about logs failed", { error });
      post({ type: "failed", id, code, message });
    } finally {
      cancelled.delete(id);
    }
  }

  /** Registered in the same turn in which its search looks at what there is: no line is missed, none comes twice. */
  async function follow(id: number, asked: AskedLines, tail: number): Promise<void> {
    try {
      const query = compiled(asked);
      const follower = followers.add(id, query);
      const found = await sliced(id, (stop) => searchLines(store, { query, order: "desc", limit: tail }, stop));
      const first = found.lines.at(-1)?.at ?? query.from;
      const missing = missingLines(store, { ...query, from: Math.max(first, query.from) });
      follower.begin([...found.lines.toReversed(), ...missing.map(noteOf)]);
    } catch (error) {
      followers.remove(id);
      await answer(id, () => Promise.reject(error));
    }
  }

  return {
    receive(message) {
      wake();
      if (message.type === "watch") capture.watch(message.containers);
      else if (message.type === "follow") void follow(message.id, message.query, message.tail);
      else if (message.type === "cancel") {
        if (!followers.remove(message.id)) cancelled.add(message.id);
      } else if (message.type !== "open" && message.type !== "close") {
        const { id, type } = message;
        // The types of a question and of its ask go together, which the table cannot say for a union.
        const work = answers[type] as (ask: unknown, id: number) => Promise<Questions[QuestionName]["answer"]>;
        void answer(id, () => work(message.ask, id));
      }
    },
    async run(signal) {
      let trust = clockStart(now(), steady());
      let sweptAt = steady();
      signal.addEventListener("abort", () => wake(), { once: true });
      while (!signal.aborted) {
        const more = capture.turn();
        turns = more ? turns + 1 : 0;
        store.flush({ behind: turns > behindTurns });
        followers.deliver();
        if (steady() - sweptAt >= setup.store.sweepMs) {
          sweptAt = steady();
          const { clockJumpMs: jumpMs, clockHoldMs: holdMs } = setup.store;
          trust = clockLook(trust, { wallMs: now(), steadyMs: steady() }, { jumpMs, holdMs });
          store.sweep(trust.heldUntilMs > steady() ? undefined : now() - setup.store.ageMs);
        }
        if (more) {
          await Bun.sleep(0);
          continue;
        }
        const pause = new AbortController();
        wake = () => pause.abort();
        const isWaiting = [...store.waiting()].length > 0;
        const pauseMs = isWaiting ? Math.min(capture.pauseMs(), setup.capture.quietLookMs) : capture.pauseMs();
        await clock.sleep(pauseMs, pause.signal);
      }
      store.flush({ all: true });
      capture.close();
    },
  };
}

/** In a stream, what is missing is said as a line. */
function noteOf(missing: MissingLines): FoundLine {
  const { app, until: at } = missing;
  const source = { id: "", pod: "", replica: "", release: "", role: "" };
  return { app, at, source, stream: "berth", level: "warn", text: missingText(missingView(missing)) };
}

function compiled({ reach, ...query }: AskedLines): CompiledQuery {
  return compileQuery({ ...query, mayReach: (app) => mayReach({ apps: reach }, app) });
}
