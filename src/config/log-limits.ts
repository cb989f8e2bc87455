const mib = 1024 * 1024;

/** Limits of the store of logs and of what fills it; see `config.ts` for those of everything else. */
export const logLimits = {
  store: {
    /** A block of an app is written when its lines have this size, or the first of them has waited this long. */
    blockBytes: mib,
    blockMs: 30_000,
    /** Lines of all apps that wait to be written. Above it the largest go first, and reading pauses while the disk is full. */
    waitingBytesMax: 64 * mib,
    /** How hard blocks are packed: as they come, while reading is behind, and when the hour of a segment is over. */
    packLevel: 12,
    packLevelBehind: 3,
    packLevelLast: 13,
    /** A segment that is larger is closed before its hour is over. */
    segmentBytesMax: 64 * mib,
    ageMs: 7 * 24 * 3_600_000,
    bytesMax: 2_048 * mib,
    appBytesMax: 1_024 * mib,
    /** Share of the disk that stays free. */
    freeShare: 0.1,
    /** How often old segments are looked for. */
    sweepMs: 60_000,
    /** A clock that moves by more than this was set; ages do not count for so long after it. */
    clockJumpMs: 10 * 60_000,
    clockHoldMs: 24 * 3_600_000,
  },
  capture: {
    /** Lines of one container in a second on average, and at once. Of what is above, one of so many is kept. */
    linesPerSecond: 20_000,
    linesAtOnce: 400_000,
    keepOneOf: 10,
    noteMs: 10_000,
    turnBytes: 512 * 1024,
    ageMs: 7 * 24 * 3_600_000,
    /** How often files are looked at for new lines. */
    lookMs: 200,
    /**
     * How often the file of a container is looked at that has written nothing for `quietMs`; it is watched meanwhile, so
     * that what it writes next is read at the next look. A law keeps this below half of the drains' `lagMs`: where files
     * cannot be watched, drains must not take older lines for complete.
     */
    quietLookMs: 790,
    /** The same where the kernel reports each change of the file: only in case that a report is lost. */
    watchedLookMs: 10_000,
    quietMs: 2_000,
  },
  search: {
    /** How long one request looks: what it had no time for is named in the answer. */
    budgetMs: 5_000,
    /** Between two rests for the other work of the thread. */
    sliceMs: 10,
    atOnceMax: 4,
    /** Lines that wait for one follower between two looks; what is above is counted. */
    followLinesMax: 20_000,
  },
  drains: {
    drainsMax: 20,
    /** How often it is looked for new lines; objects are made more rarely, because each has a price. */
    lookMs: 2_000,
    objectMs: 60_000,
    /** Lines that are younger may still get older neighbours, from another pod. */
    lagMs: 2_000,
    linesMax: 10_000,
    batchBytes: mib,
    objectBytes: 8 * mib,
    sendMs: 30_000,
    answerBytesMax: mib,
    retryMs: 1_000,
    retryMaxMs: 5 * 60_000,
    /** Longest wait that another side may ask for with `Retry-After`. */
    retryAfterMaxMs: 3_600_000,
    /** A side that took something within this time refuses a line for what it is; otherwise a test line must pass first. */
    provenMs: 5 * 60_000,
  },
  room: {
    linesDefault: 100,
    linesMax: 10_000,
    bucketsDefault: 60,
    bucketsMax: 300,
    contextDefault: 10,
    contextLinesMax: 1_000,
    /** Span of a histogram without a beginning. */
    spanMs: 3_600_000,
    /** How often containers are listed beside events, and how long events are gathered. */
    listMs: 30_000,
    settleMs: 50,
    /** The removal of a container waits at most so long for its last lines. */
    drainMs: 5_000,
    reconnectMs: 1_000,
    waitingMax: 64,
    /** A thread that is silent for so long hangs, and is replaced. */
    deadlineMs: 30_000,
    restartMs: 1_000,
    closeMs: 5_000,
  },
} as const;
