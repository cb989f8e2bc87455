const mib = 1024 * 1024;

/** Limits of what apps send over OTLP; see `config.ts` for those of everything else. */
export const telemetryLimits = {
  /** Of its listener, beside those of `config.ts`: a body as it comes, and connections of all containers. */
  front: { bodyBytesMax: 2 * mib, connectionsMax: 256 },
  http: {
    /** A body after it was decompressed. */
    inflatedBytesMax: 16 * mib,
    /** Messages and values in one request, and how deep they are nested. */
    itemsMax: 200_000,
    depthMax: 64,
    /** Requests that are read at one time, and that wait for it. */
    atOnceMax: 4,
    waitingMax: 64,
  },
  room: {
    /** Of one app: requests, and bytes after they were decompressed. */
    requests: { burst: 300, perMinute: 3_000 },
    bytes: { burst: 32 * mib, perMinute: 256 * mib },
    /** Log records of an app are gathered for so long, so that its small batches share a write. */
    gatherMs: 200,
    /** Of log records that wait to be written. */
    waitingBytesMax: 32 * mib,
    /** A reason to reject something is told once in this time for each app. */
    noteMs: 3_600_000,
    /** Apps whose state is remembered. */
    appsMax: 1_000,
    points: { labelsMax: 16, labelCharactersMax: 120, bucketsMax: 512 },
    lines: { lineCharactersMax: 256 * 1024, ageMs: 7 * 24 * 3_600_000, aheadMs: 5 * 60_000 },
  },
} as const;
