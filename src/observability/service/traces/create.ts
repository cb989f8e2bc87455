import { parseDuration } from "../../../base/pure/duration.ts";
import { foldCase } from "../../../base/pure/fold-case.ts";
import { readFlag } from "../../../base/wire/query.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { QueryOf } from "../../../base/wire/endpoint.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import type { listTraces, TracePage, TracesState, TraceView } from "../../api/traces.ts";
import { appKey, type LogApp } from "../../core/logs/line.ts";
import type { Rate } from "../../core/tokens/bucket.ts";
import { mayReach } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import { createSpanSampler, type SpanSampler } from "../../core/traces/sampling.ts";
import type { Span } from "../../core/traces/span.ts";
import { readTime } from "../logs/views.ts";
import { openTracesStore } from "../../store/traces/traces-store.ts";
import { createTraceJanitor, type TraceJanitorLimits } from "./janitor.ts";
import { type Place, searchTraces } from "./search.ts";
import { traceRow, viewOf } from "./views.ts";

interface TraceLimits extends TraceJanitorLimits {
  spans: Rate;
  appsMax: number;
  tendMs: number;
  searchMs: number;
  turnMs: number;
  listDefault: number;
  listMax: number;
  spansShownMax: number;
  blocksReadMax: number;
}

/** Where traces are kept; without it a plane keeps none. */
export interface TracePlatform {
  /** The database. */
  file: string;
  limits: TraceLimits;
  /** Space on the disk of the database; undefined where that is not known. */
  space: () => { freeBytes: number; totalBytes: number } | undefined;
}

type Reach = Pick<Grant, "apps">;

/** Spans of apps. Each method fails `invalid` for a bad query. */
export interface TracesRoom {
  /** Stores spans that came together. How many of them were left out, and why. */
  add(app: LogApp, spans: readonly Span[]): { rejected: number; reason: string };
  list(reach: Reach, query: Partial<QueryOf<typeof listTraces>>): Promise<TracePage>;
  /** Fails `not_found`, also where the caller may see none of its apps. */
  get(reach: Reach, id: string): Promise<TraceView>;
  state(): TracesState;
  /** Keeps the store within its limits until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  close(): void;
}

interface TraceParts {
  clock: SteadyClock;
  log: Log;
}

export function createTracesRoom(platform: TracePlatform | undefined, parts: TraceParts): TracesRoom {
  return platform === undefined ? closedRoom() : openRoom(platform, parts);
}

function openRoom({ file, limits, space }: TracePlatform, { clock, log }: TraceParts): TracesRoom {
  const pause = () => new Promise<void>((resolve) => setImmediate(resolve));
  const store = openTracesStore(file, (why) =>
    log.error("traces database set aside, an empty one begins", { file, why }),
  );
  const janitor = createTraceJanitor({ store, clock, log, limits, space, pause });
  const samplers = new Map<string, SpanSampler>();
  let sampledOut = 0;

  function samplerOf(app: string): SpanSampler {
    const sampler = samplers.get(app) ?? createSpanSampler(limits.spans);
    samplers.delete(app);
    samplers.set(app, sampler);
    const [oldest] = samplers.size > limits.appsMax ? samplers.keys() : [];
    if (oldest !== undefined) samplers.delete(oldest);
    return sampler;
  }

  return {
    add(app, spans) {
      const problem = janitor.problem();
      if (problem !== undefined) return { rejected: spans.length, reason: `no traces are stored now: ${problem}` };
      const kept = samplerOf(appKey(app)).keep(spans, clock.steady());
      if (kept.length > 0) store.add(app, clock.now(), kept);
      const rejected = spans.length - kept.length;
      sampledOut += rejected;
      const { burst, perMinute } = limits.spans;
      const share = `${burst} spans at once and ${perMinute} a minute are kept of an app, errors and slow traces first`;
      return { rejected, reason: rejected === 0 ? "" : share };
    },
    async list(reach, query) {
      const now = clock.now();
      const usOf = (name: "since" | "until", fallback: number) =>
        query[name] === undefined ? fallback : readTime(name, query[name], now) * 1_000;
      const found = await searchTraces(
        { store, steady: () => clock.steady(), pause, limits },
        {
          reach,
          app: query.app,
          sinceUs: usOf("since", 0),
          minUs: readMinimum(query.min_duration) * 1_000,
          error: readFlag(query.error, false),
          text: foldCase(query.text ?? ""),
          limit: readLimit(query.limit, limits),
          from: query.cursor === undefined ? { us: usOf("until", endUs), trace: "" } : readCursor(query.cursor),
        },
      );
      const { next, isCut } = found;
      return {
        traces: found.traces.map(traceRow),
        ...(next === undefined ? {} : { cursor: `${next.us}.${next.trace}` }),
        ...(next === undefined || !isCut ? {} : { searched_to: new Date(next.us / 1_000).toISOString() }),
      };
    },
    get: (reach, id) => viewOf({ store, pause, limits }, id.toLowerCase(), (app) => mayReach(reach, app)),
    state() {
      const { spans, oldestAt } = store.counts();
      const problem = janitor.problem();
      return {
        spans,
        bytes: store.usedBytes(),
        bytes_max: limits.bytesMax,
        ...(oldestAt === undefined ? {} : { oldest: new Date(oldestAt).toISOString() }),
        sampled_out: sampledOut,
        dropped: janitor.dropped(),
        ...(problem === undefined ? {} : { problem }),
      };
    },
    async run(signal) {
      while (!signal.aborted) {
        await janitor.round().catch((error: unknown) => log.warn("traces not tended", { error }));
        await clock.sleep(limits.tendMs, signal);
      }
    },
    close: store.close,
  };
}

/** After all traces. */
const endUs = Number.MAX_SAFE_INTEGER;

function readMinimum(text: string | undefined): number {
  const ms = text === undefined ? 0 : parseDuration(text);
  if (ms !== undefined) return ms;
  throw new Failure("invalid", `query min_duration: "${text}" is not a duration; write it like 250ms or 1s`);
}

function readLimit(text: string | undefined, { listDefault, listMax }: TraceLimits): number {
  if (text === undefined) return listDefault;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= listMax) return value;
  throw new Failure("invalid", `query limit: "${text}" is not a whole number from 1 to ${listMax}`);
}

function readCursor(text: string): Place {
  const [, us, trace] = /^(\d{1,16})\.([0-9a-f]{32})$/.exec(text) ?? [];
  if (us !== undefined && trace !== undefined) return { us: Number(us), trace };
  throw new Failure("invalid", `query cursor: "${text}" is not a cursor; pass one from an answer unchanged`);
}

function closedRoom(): TracesRoom {
  const closed = (): never => {
    throw new Failure("unavailable", "traces are not kept by this server");
  };
  return {
    add: closed,
    list: async () => closed(),
    get: async () => closed(),
    state: closed,
    run: async () => undefined,
    close: () => undefined,
  };
}
