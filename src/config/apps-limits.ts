/** Limits of what the observability plane shows of apps; see `observability-limits.ts` for those of the plane itself. */
export const appsLimits = {
  /** Changes that come within this time are shown as one. */
  gatherMs: 100,
  /** Usage of pods and requests of visitors are read this often, from memory. */
  sampleMs: 5_000,
  /** Hosts, certificates, locks and runs are read this often; sooner for a request that finds them older than `staleMs`. */
  edgeMs: 15_000,
  staleMs: 2_000,
  /** Distance of the points of a spark, and how many there are: the last ten minutes. */
  sparkStepMs: 15_000,
  sparkPoints: 40,
  /** Problems of the overview; the worst stay. */
  problemsShown: 200,
  deploysShown: 20,
  deploysMax: 200,
  /** Reads of that many rows for one page of a search. */
  deployLooksMax: 10,
  /** Changes begun through the plane that are remembered, and how long one is followed. */
  operationsKept: 500,
  operationMs: 3_600_000,
  stream: {
    /** Events that a client that comes back can be given, by count and by bytes. */
    ringEvents: 2_000,
    ringBytes: 4 * 1024 * 1024,
    /** Bytes that wait for one client; beyond it the client gets a snapshot in place of what it missed. */
    waitingBytesMax: 1024 * 1024,
    /** A stream that says nothing is kept open by a comment this often. */
    pingMs: 5_000,
    /** The event log is read this often while somebody listens to it. */
    eventsLookMs: 1_000,
    /** While no client listens to events. */
    eventsQuietLookMs: 10_000,
    eventsPerLook: 200,
  },
} as const;
