import type { SteadyClock } from "../../../base/words/clock.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";
import type { Log } from "../../../base/words/log.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf, QueryOf } from "../../../base/wire/endpoint.ts";
import type {
  logContext,
  LogContext,
  LogHistogram,
  logHistogram,
  LogPage,
  LogState,
  searchLogs,
  streamLogs,
} from "../../api/log-search.ts";
import type { LoggedContainer } from "../../collect/logs/capture.ts";
import type { LogApp } from "../../core/logs/line.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import { createLogThread, type LinesEvent, type StartLogThread } from "./log-thread.ts";
import type { AskedPage, FoundPage, LogSetup } from "./messages.ts";
import { askedLines, histogramView, lineView, missingField, readTime, stateView } from "./views.ts";

/** What the room needs of the machine; handed in, because only the daemon knows the engine. */
export interface LogPlatform {
  start: StartLogThread;
  setup: LogSetup;
  limits: LogRoomLimits;
  /** Every container of this installation whose output is kept. Throws while the engine is away. */
  containers(): Promise<LoggedContainer[]>;
  /** Calls `onChange` when containers come and go, until `signal` aborts. Hints: none has to come. */
  changes(signal: AbortSignal, onChange: () => void): Promise<void>;
}

interface LogRoomLimits {
  linesDefault: number;
  linesMax: number;
  bucketsDefault: number;
  bucketsMax: number;
  contextDefault: number;
  contextLinesMax: number;
  spanMs: number;
  listMs: number;
  settleMs: number;
  drainMs: number;
  waitingMax: number;
  deadlineMs: number;
  restartMs: number;
  closeMs: number;
}

type Reach = Pick<Grant, "apps">;

/** Stored and live output of all pods. Each method fails `invalid` for a bad query and `unavailable` without the store. */
export interface LogsRoom {
  search(grant: Reach, query: Partial<QueryOf<typeof searchLogs>>, charactersMax?: number): Promise<LogPage>;
  context(grant: Reach, query: Partial<QueryOf<typeof logContext>>): Promise<LogContext>;
  histogram(grant: Reach, query: Partial<QueryOf<typeof logHistogram>>): Promise<LogHistogram>;
  /** Stored lines, then those that come. Call what it returns to end it. */
  follow(grant: Reach, query: Partial<QueryOf<typeof streamLogs>>, events: LineEvents): () => void;
  /** Lines as they are stored, for rooms of this plane. */
  page(ask: AskedPage): Promise<FoundPage>;
  state(): Promise<LogState>;
  /** Puts lines that came another way, by `packLines`, beside those of the pods; resolves when they are on disk. */
  ingest(app: LogApp, packed: Uint8Array[]): Promise<void>;
  /** Resolves when everything that a container wrote is on disk, or there was no time for it: it is about to be removed. */
  drain(container: string): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

interface LineEvents {
  onLines(event: { lines: DataOf<typeof searchLogs>["lines"]; skipped: number }): void;
  onEnd(error: unknown): void;
}

/** Without a platform, as in tests of other rooms, everything fails `unavailable`. */
export function createLogsRoom(platform: LogPlatform | undefined, parts: { clock: SteadyClock; log: Log }): LogsRoom {
  return platform === undefined ? closedRoom() : openRoom(platform, parts);
}

function openRoom(platform: LogPlatform, { clock, log }: { clock: SteadyClock; log: Log }): LogsRoom {
  const { limits } = platform;
  const thread = createLogThread({ ...platform, clock, log });
  let changed = () => {};

  async function list(): Promise<void> {
    try {
      thread.watch(await platform.containers());
    } catch (error) {
      log.debug("containers cannot be listed for their logs", { error });
    }
  }

  async function watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await list();
      const wake = new AbortController();
      changed = () => wake.abort();
      await sleepAbout(clock, limits.listMs, AbortSignal.any([signal, wake.signal]));
      // Several come at once.
      if (wake.signal.aborted) await clock.sleep(limits.settleMs, signal);
    }
  }

  return {
    async search(grant, { order, limit, cursor, ...filters }, charactersMax) {
      const query = askedLines(filters, grant, clock.now());
      if (order !== undefined && order !== "asc" && order !== "desc")
        throw new Failure("invalid", `query order: "${order}" is neither desc nor asc`);
      const found = await thread.ask("search", {
        query,
        order: order ?? "desc",
        limit: readLimit("limit", limit, { fallback: limits.linesDefault, most: limits.linesMax }),
        ...(charactersMax === undefined ? {} : { charactersMax }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      return {
        lines: found.lines.map(lineView),
        ...(found.cursor === undefined ? {} : { cursor: found.cursor }),
        ...(found.stoppedAt === undefined ? {} : { searched_to: new Date(found.stoppedAt).toISOString() }),
        ...missingField(found.missing),
      };
    },
    async context(grant, { app, replica, at, text = "", before, after }) {
      if (app === undefined || !app.includes("/")) throw new Failure("invalid", "query app: write SCOPE/NAME");
      if (at === undefined) throw new Failure("invalid", "query at: missing; write the time of a line");
      const time = readTime("at", at, clock.now());
      const query = askedLines({ app, ...(replica === undefined ? {} : { replica }) }, grant, clock.now());
      const count = (name: string, value: string | undefined) =>
        readLimit(name, value, { fallback: limits.contextDefault, most: limits.contextLinesMax, least: 0 });
      const [olderMax, newerMax] = [count("before", before), count("after", after)];
      const [older, same, newer] = await Promise.all([
        thread.ask("search", { query: { ...query, until: time }, order: "desc", limit: Math.max(olderMax, 1) }),
        thread.ask("search", {
          query: { ...query, from: time, until: time + 1 },
          order: "asc",
          limit: limits.linesMax,
        }),
        thread.ask("search", { query: { ...query, from: time + 1 }, order: "asc", limit: Math.max(newerMax, 1) }),
      ]);
      const found = same.lines.findLastIndex((line) => line.text.startsWith(text));
      const behind = found < 0 ? same.lines.length : found + 1;
      const upTo = [...older.lines.toReversed(), ...same.lines.slice(0, behind)];
      const shownBefore = upTo.slice(Math.max(upTo.length - olderMax, 0));
      const shownAfter = [...same.lines.slice(behind), ...newer.lines].slice(0, newerMax);
      const [first, last] = [shownBefore[0]?.at ?? time, shownAfter.at(-1)?.at ?? time];
      const missing = [...older.missing, ...newer.missing].filter(({ from, until }) => until >= first && from <= last);
      return {
        before: shownBefore.map(lineView),
        after: shownAfter.map(lineView),
        ...missingField(missing),
      };
    },
    async histogram(grant, { buckets, ...filters }) {
      const now = clock.now();
      const query = askedLines(filters, grant, now);
      const until = query.until ?? now + 1;
      const from = query.from ?? until - limits.spanMs;
      if (from >= until) throw new Failure("invalid", "query from: it is not before until");
      const bucketsMax = readLimit("buckets", buckets, {
        fallback: limits.bucketsDefault,
        most: limits.bucketsMax,
        least: 2,
      });
      return histogramView(await thread.ask("histogram", { query: { ...query, from, until }, bucketsMax }), until);
    },
    follow(grant, { tail, follow: _follow, ...filters }, events) {
      const query = askedLines(filters, grant, clock.now());
      const count = readLimit("tail", tail, { fallback: limits.linesDefault, most: limits.linesMax, least: 0 });
      return thread.follow(query, count, {
        onLines: ({ lines, skipped }: LinesEvent) => events.onLines({ lines: lines.map(lineView), skipped }),
        onEnd: events.onEnd,
      });
    },
    page: (ask) => thread.ask("search", ask),
    async state() {
      return stateView(await thread.ask("state", null));
    },
    async ingest(app, packed) {
      await thread.ask("ingest", { app, packed });
    },
    async drain(container) {
      const over = new AbortController();
      await Promise.race([drained(container), clock.sleep(limits.drainMs, over.signal)]);
      over.abort();
    },
    async run(signal) {
      await Promise.all([watch(signal), platform.changes(signal, () => changed())]);
      await thread.close();
    },
  };

  /** What is removed right after its start may not be on the list yet. */
  async function drained(container: string): Promise<void> {
    try {
      await list();
      await thread.ask("drain", { id: container });
    } catch (error) {
      log.debug("the last lines of a container may be missing", { container, error });
    }
  }
}

function readLimit(
  name: string,
  text: string | undefined,
  { fallback, most, least = 1 }: { fallback: number; most: number; least?: number },
): number {
  if (text === undefined || text === "") return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Failure("invalid", `query ${name}: "${text}" is not a whole number from ${least} to ${most}`);
}

function closedRoom(): LogsRoom {
  const closed = async (): Promise<never> => {
    throw new Failure("unavailable", "logs are not kept by this server");
  };
  return {
    search: closed,
    context: closed,
    histogram: closed,
    page: closed,
    state: closed,
    ingest: closed,
    follow() {
      throw new Failure("unavailable", "logs are not kept by this server");
    },
    drain: async () => undefined,
    run: async () => undefined,
  };
}
