import { Failure } from "../../../base/wire/failure.ts";
import { parseSince } from "../../../base/pure/since.ts";
import type { QueryOf } from "../../../base/wire/endpoint.ts";
import type { LogHistogram, LogLine, LogState, MissingLogLines, searchLogs } from "../../api/log-search.ts";
import { type FoundLine, type Level, levels, type LogStream, logStreams } from "../../core/logs/line.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { MissingLines } from "../../store/logs/missing.ts";
import type { AskedLines, KeeperState, Questions } from "./messages.ts";

type Filters = Omit<Partial<QueryOf<typeof searchLogs>>, "order" | "limit" | "cursor">;

/** Reads the filters of a request. Fails `invalid` with the name of the one that is wrong. */
export function askedLines(filters: Filters, { apps: reach }: Pick<Grant, "apps">, now: number): AskedLines {
  const { q, app, replica, release, stream, level, from, until } = filters;
  return {
    reach: [...reach],
    apps: app === undefined || app === "" ? [] : app.split(",").map((word) => readAppWord(word)),
    ...(q === undefined ? {} : { text: q }),
    ...(replica === undefined ? {} : { replica }),
    ...(release === undefined ? {} : { release }),
    ...(stream === undefined ? {} : { stream: oneOf("stream", stream, logStreams) satisfies LogStream }),
    ...(level === undefined ? {} : { level: oneOf("level", level, levels) satisfies Level }),
    ...(from === undefined ? {} : { from: readTime("from", from, now) }),
    ...(until === undefined ? {} : { until: readTime("until", until, now) }),
  };
}

function readAppWord(word: string): string {
  if (/^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)?$/.test(word)) return word;
  throw new Failure("invalid", `query app: "${word}" is not SCOPE or SCOPE/NAME`);
}

function oneOf<T extends string>(name: string, value: string, known: readonly T[]): T {
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  throw new Failure("invalid", `query ${name}: unknown ${name} "${value}"; use ${known.join(", ")}`);
}

export function readTime(name: string, text: string, now: number): number {
  const time = parseSince(text, now);
  if (time.ok) return time.value;
  throw new Failure("invalid", `query ${name}: ${time.error}`);
}

export function lineView({ at, app, source, stream, level, text }: FoundLine): LogLine {
  const { pod, replica, release, role } = source;
  return {
    at: new Date(at).toISOString(),
    scope: app.scope,
    name: app.name,
    pod,
    replica_id: replica,
    ...(release === "" ? {} : { release_id: release }),
    ...(role === "" ? {} : { role }),
    stream,
    level,
    text,
  };
}

export function missingView({ app: { scope, name }, from, until, blocks, lines }: MissingLines): MissingLogLines {
  const span = { from: new Date(from).toISOString(), until: new Date(until).toISOString() };
  return { scope, name, ...span, blocks, ...(lines === undefined ? {} : { lines }) };
}

/** No field where nothing is missing. */
export function missingField(missing: readonly MissingLines[]): { missing?: MissingLogLines[] } {
  return missing.length === 0 ? {} : { missing: missing.map(missingView) };
}

export function histogramView(
  { from, intervalMs, counts, partial, missing }: Questions["histogram"]["answer"],
  until: number,
): LogHistogram {
  return {
    from: new Date(from).toISOString(),
    until: new Date(until).toISOString(),
    interval_ms: intervalMs,
    total: counts.flat().reduce((total, count) => total + count, 0),
    buckets: counts.map((byLevel, bucket) => ({
      at: new Date(from + bucket * intervalMs).toISOString(),
      counts: Object.fromEntries(
        levels.flatMap((level, at) => ((byLevel[at] ?? 0) > 0 ? [[level, byLevel[at] ?? 0]] : [])),
      ),
    })),
    partial,
    ...missingField(missing),
  };
}

export function stateView({ store, capture, catchingUp }: KeeperState): LogState {
  return {
    catching_up: catchingUp,
    containers: capture.containers,
    lines_read: capture.linesRead,
    lines_left_out: capture.linesLeftOut,
    gaps: capture.gaps,
    unreadable: capture.unreadable,
    segments: store.segments,
    stored_bytes: store.bytes,
    raw_bytes: store.rawBytes,
    lines: store.lines,
    waiting_lines: store.waitingLines,
    ...(store.oldest === undefined ? {} : { oldest: new Date(store.oldest).toISOString() }),
    damaged: store.damaged,
    dropped: store.dropped,
    ...(store.problem === undefined ? {} : { problem: store.problem }),
  };
}
