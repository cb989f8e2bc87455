const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Limits of the certificates of the ingress; see `config.ts` for those of everything else. */
export const certificateLimits = {
  /** Below the limits of Let's Encrypt: 5 certificates a week for one name, 50 a week under one domain, 300 in 3 h. */
  budget: {
    perName: { most: 4, perMs: 7 * day },
    perDomain: { most: 40, perMs: 7 * day },
    perAccount: { most: 200, perMs: 3 * hour },
  },
  acme: {
    requestMs: 30_000,
    bodyBytesMax: 1024 * 1024,
    answerMs: 2 * minute,
    reachMs: 5_000,
    clockSkewMsMax: 10 * minute,
    /** Until a TXT record that a plugin has set is seen. */
    dnsSeenMs: 3 * minute,
  },
  onDemand: {
    perMinute: 120,
    perClientPerMinute: 10,
    clientsMax: 10_000,
    refusedMs: minute,
    failedMs: 10_000,
    refusedMax: 10_000,
    /** Each takes about 30 KB of memory in the proxy. */
    namesMax: 2_000,
    permissionMs: hour,
    unissuedKeptMs: day,
    askMs: 5_000,
    /** A body that says more than a status; it is not read further. */
    askBytesMax: 64 * 1024,
    /** Browsers give up a handshake after 30 s. */
    waitMs: 25_000,
    /** Connections that wait at one time, over all hosts. */
    waitingMax: 200,
  },
  inFlightMax: 4,
  lookMs: minute,
  fileLookMs: minute,
  adviceMs: 6 * hour,
  checkPauses: { firstMs: 15_000, maxMs: 10 * minute },
  /** Let's Encrypt allows 5 failed checks of a name in an hour. */
  orderPauses: { firstMs: 6 * minute, maxMs: 12 * hour },
  /** The buffer of the proxy has 32 KiB. */
  pemBytesMax: 30 * 1024,
  /** Size of one file that a manifest names. */
  fileBytesMax: 256 * 1024,
  unwantedKeptMs: 7 * day,
};
