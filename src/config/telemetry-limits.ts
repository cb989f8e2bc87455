import { lineCharactersMax } from "../observability/core/logs/line.ts";

const mib = 1024 * 1024;

/** Limits of what apps send over OTLP; see `config.ts` for those of everything else. */
export const telemetryLimits = {
  /** Limits of its listener, beside those of `config.ts`: a body as it comes, and connections of all containers and of one. */
  front: { bodyBytesMax: 2 * mib, connectionsMax: 256, peerConnectionsMax: 64 },
  http: {
    /** An answer that refuses waits for so long: who asks again at once is held by its own connections. */
    holdMs: 1_000,
    /** Containers whose app is remembered between two requests. */
    sendersMax: 1_000,
  },
  room: {
    /** Shares of one app: requests, and bytes after they were decompressed. */
    requests: { burst: 300, perMinute: 3_000 },
    bytes: { burst: 32 * mib, perMinute: 256 * mib },
    /** With fewer bytes left no request of an app is begun: small ones may hold much. */
    leastBytes: 64 * 1024,
    /** Log records of an app are gathered for so long, so that its small batches share a write. */
    gatherMs: 200,
    /** Requests that wait for their turn to be decoded: apps take turns. */
    waitingMax: 64,
    /** The thread that decodes: how long it may be silent, and how long it stays when nothing comes. */
    thread: { deadlineMs: 10_000, idleMs: 120_000 },
    decode: {
      /** A body after it was decompressed: in all, and as a multiple of what came, where it is more than this. */
      inflatedBytesMax: 8 * mib,
      inflatedRatioMax: 250,
      inflatedBytesFree: mib,
      /** Messages and values in one request, values of JSON, and how deep they are nested. */
      itemsMax: 200_000,
      valuesMax: 1_000_000,
      depthMax: 64,
      /** As many bytes an item of a request counts at least, and a point, a record and a span: about 15 µs of work each. */
      itemBytes: 8,
      entryBytes: { metrics: 1_000, logs: 100, traces: 500 },
      /** Points and spans that the thread that serves takes in one go. */
      sliceMax: 512,
      points: { labelsMax: 16, labelCharactersMax: 120, bucketsMax: 512 },
      spans: {
        attributesMax: 64,
        valueCharactersMax: 1_024,
        nameCharactersMax: 256,
        eventsMax: 16,
        ageMs: 24 * 3_600_000,
        aheadMs: 5 * 60_000,
      },
      lines: { lineCharactersMax, ageMs: 7 * 24 * 3_600_000, aheadMs: 5 * 60_000 },
    },
    /** Size of log records that wait to be written. */
    waitingBytesMax: 32 * mib,
    /** A reason to reject something is reported once in this time for each app. */
    noteMs: 3_600_000,
    /** Apps whose state is remembered. */
    appsMax: 1_000,
  },
  traces: {
    /** Spans of one app that are kept: at once, and over time. Of what is above, errors and slow traces stay first. */
    spans: { burst: 20_000, perMinute: 30_000 },
    /** Apps whose share is remembered. */
    appsMax: 1_000,
    ageMs: 3 * 24 * 3_600_000,
    /** Size of the database, and of the packed spans of one app. */
    bytesMax: 1024 * mib,
    appBytesMax: 256 * mib,
    /** Free space below which old traces go, before logs and metrics do, and below which none are stored. */
    diskLowShare: 0.12,
    diskLowBytes: 1536 * mib,
    diskFullBytes: 512 * mib,
    /** A clock that moves by more than this was set; ages do not count for so long after it. */
    clockJumpMs: 10 * 60_000,
    clockHoldMs: 24 * 3_600_000,
    tendMs: 60_000,
    /** How long one question looks, and how long it works before others get their turn. */
    searchMs: 1_000,
    turnMs: 10,
    listDefault: 50,
    listMax: 500,
    /** Limits of one trace: spans in an answer, and batches that are read for it. */
    spansShownMax: 2_000,
    blocksReadMax: 200,
  },
} as const;
