import { type Static, Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { type PlaneEndpoint, planeEndpoint } from "./plane-endpoint.ts";

const filters = {
  q: Text(
    'words and "phrases", /expressions/, field=value with = != > >= < <=, and -term for its opposite; all have to hold. ' +
      "Small letters match both cases. app, pod, replica, release, role, stream and level are fields of every line",
  ),
  app: Text("SCOPE or SCOPE/NAME, several with commas between (default every app)"),
  replica: Text("exact replica id"),
  release: Text("exact release id"),
  stream: Text("stdout, stderr, otlp for what the app sent over OTLP, or berth for notes of the server about a log"),
  level: Text("this level and above: trace, debug, info, warn, error, fatal"),
  from: Text("from this time on: RFC 3339, unix seconds, or a duration back such as 2h"),
  until: Text("before this time, in the same forms"),
};

export const LogLine = Type.Object({
  at: Type.String({ description: "RFC 3339, by Docker's clock" }),
  scope: Type.String(),
  name: Type.String(),
  pod: Type.String(),
  replica_id: Type.String(),
  release_id: Type.Optional(Type.String()),
  role: Type.Optional(Type.String({ description: "init, release, job or run; missing for a replica" })),
  stream: Type.String(),
  level: Type.String({ description: "none where the line says no level" }),
  text: Type.String(),
});
export type LogLine = Static<typeof LogLine>;

const MissingLogLines = Type.Object(
  {
    scope: Type.String(),
    name: Type.String(),
    from: Type.String({ description: "RFC 3339; the lines lie between this time and until" }),
    until: Type.String(),
    blocks: Type.Integer({ description: "damaged blocks" }),
    lines: Type.Optional(Type.Integer({ description: "missing where a block does not tell any more" })),
  },
  { description: "lines of one app that the query may mean and that cannot be read, because the file is damaged" },
);
export type MissingLogLines = Static<typeof MissingLogLines>;

const missing = Type.Optional(Type.Array(MissingLogLines));

const LogPage = Type.Object({
  lines: Type.Array(LogLine),
  cursor: Type.Optional(Type.String({ description: "for the next page; missing after the last one" })),
  searched_to: Type.Optional(
    Type.String({
      description: "the time was used up: lines beyond this time were not looked at; go on with the cursor",
    }),
  ),
  missing,
});
export type LogPage = Static<typeof LogPage>;

const LogContext = Type.Object({
  before: Type.Array(LogLine, { description: "oldest first, up to and with the line that was asked for" }),
  after: Type.Array(LogLine, { description: "oldest first" }),
  missing,
});
export type LogContext = Static<typeof LogContext>;

const LogHistogram = Type.Object({
  from: Type.String(),
  until: Type.String(),
  interval_ms: Type.Integer(),
  total: Type.Integer(),
  buckets: Type.Array(
    Type.Object({ at: Type.String(), counts: Type.Record(Type.String(), Type.Integer(), { description: "by level" }) }),
  ),
  partial: Type.Boolean({ description: "the time was used up: the oldest buckets may be too small" }),
  missing,
});
export type LogHistogram = Static<typeof LogHistogram>;

const LogState = Type.Object({
  catching_up: Type.Boolean({ description: "reading is behind what the pods write" }),
  containers: Type.Integer({ description: "whose output is read" }),
  lines_read: Type.Integer({ description: "since the server started" }),
  lines_left_out: Type.Integer({ description: "of pods that write too much, since the server started" }),
  gaps: Type.Integer({ description: "times when Docker deleted lines before they were read" }),
  unreadable: Type.Array(Type.Object({ pod: Type.String(), why: Type.String() })),
  segments: Type.Integer(),
  stored_bytes: Type.Integer(),
  raw_bytes: Type.Integer({ description: "as the pods wrote them" }),
  lines: Type.Integer(),
  waiting_lines: Type.Integer({ description: "in memory, still in Docker's files too" }),
  oldest: Type.Optional(Type.String()),
  damaged: Type.Integer({ description: "blocks and files that cannot be read" }),
  dropped: Type.Record(Type.String(), Type.Integer(), { description: "files that were dropped, by reason" }),
  problem: Type.Optional(Type.String({ description: "why nothing can be stored at the moment" })),
});
export type LogState = Static<typeof LogState>;

const searchQuery = Type.Object({
  ...filters,
  order: Text("desc, the newest first (default), or asc"),
  limit: Text(
    "at most this many lines (default 100, at most 10000), and about 4 million characters; the cursor leads to the rest",
  ),
  cursor: Text("of the page before"),
});
const streamQuery = Type.Object({
  ...filters,
  tail: Text("at most this many of the newest stored lines, oldest first (default 100, at most 10000)"),
  follow: Flag("go on with what is written from now on (default false)"),
});
const contextQuery = Type.Object({
  app: Text("SCOPE/NAME (required)"),
  replica: Text("exact replica id"),
  at: Text("RFC 3339, as in a line (required)"),
  text: Text("how the line begins, to tell lines of one millisecond apart (default the last of them)"),
  before: Text("lines up to that time (default 10, at most 1000)"),
  after: Text("lines after it (default 10, at most 1000)"),
});
const histogramQuery = Type.Object({ ...filters, buckets: Text("at most this many (default 60, at most 300)") });

export const searchLogs = planeEndpoint({
  method: "GET",
  path: "/logs/search",
  scope: "read",
  summary: "Stored output of pods, of removed ones too, page by page",
  query: searchQuery,
  data: LogPage,
});

export const streamLogs = planeEndpoint({
  method: "GET",
  path: "/logs/stream",
  scope: "read",
  summary:
    "Output of pods as JSON lines: what is stored, then with follow=true what comes, without a gap or a double; " +
    "an empty line each 5 s keeps it open",
  query: streamQuery,
  stream: "application/x-ndjson",
});

export const logContext = planeEndpoint({
  method: "GET",
  path: "/logs/context",
  scope: "read",
  summary: "The lines of an app around a time",
  query: contextQuery,
  data: LogContext,
});

export const logHistogram = planeEndpoint({
  method: "GET",
  path: "/logs/histogram",
  scope: "read",
  summary: "How many lines there were, by time and level",
  query: histogramQuery,
  data: LogHistogram,
});

export const logState = planeEndpoint({
  method: "GET",
  path: "/logs/state",
  scope: "host:read",
  summary: "What is stored of the output of pods, and how reading it goes",
  data: LogState,
});

export const logEndpoints: PlaneEndpoint[] = [searchLogs, streamLogs, logContext, logHistogram, logState];
