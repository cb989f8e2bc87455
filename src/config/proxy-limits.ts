/** Limits of the ingress proxy; see `config.ts` for those of everything else. */
export const proxyLimits = {
  /** Connections of visitors at one time, over all apps. */
  connectionsMax: 20_000,
  /** Downloads over plain HTTP at one time that the kernel carries; each takes a pipe, which is two open files. */
  splicesMax: 1_000,
  /** Backends that a load of the proxy leaves for new apps, so that their routes come without another load. */
  spareBackends: 32,
  /** Answer to one command. */
  commandMs: 5_000,
  /** Until HAProxy has started, or loaded its files. */
  startMs: 15_000,
  /** Between two attempts to write down which ports of the server HAProxy connects to. */
  portFileRetryMs: 2_000,
  /** Its image: how often the server looks whether an ingress needs it, and the pauses after a failed pull. */
  image: { lookMs: 500, firstMs: 5_000, maxMs: 300_000 },
  /** How often it is looked whether the proxy still runs: one that was killed is back within a second. */
  lookMs: 500,
  /** How often HAProxy is asked whether replicas that left are idle. */
  idleLookMs: 200,
  /** Changes of replicas behind the state on disk, until it is written as a whole again. One is about 1 KB. */
  stateChangesBytesMax: 512 * 1024,
  /** Size of the log of HAProxy itself: starts, loads and changes. */
  logBytesMax: 8 * 1024 * 1024,
  /** Connections to a replica that left are closed after this. */
  drainMs: 60_000,
  /** Changes within this time are one change of the proxy. */
  gatherMs: 5,
  /** How long a rollout waits for the proxy to take a replica in or out. */
  caughtUpMs: 10_000,
  /** Between two tries to change a proxy that did not take the change: visitors wait for it. */
  backoffFirstMs: 500,
  backoffMaxMs: 3_000,
  resyncMs: 15_000,
  /** How long requests wait for an app that one of them woke; those of an ingress with a longer `hold.for` wait for that. */
  wakeHoldMs: 60_000,
  /** Changes within this time are one call of a plugin that routes an ingress. */
  pluginGatherMs: 100,
  /** After a call of such a plugin that failed. */
  pluginPauses: { firstMs: 2_000, maxMs: 60_000 },
  /** Seconds with a request that looks like a redirect loop, until an ingress warns of one; and how long it warns then. */
  loopLines: 3,
  loopKeptMs: 600_000,
  /** Lines of the proxy that are counted in a second; the exact totals are the proxy's own. */
  linesPerSecondMax: 20_000,
  /** Longest time that figures of the last requests are kept. */
  secondsKept: 900,
  /** One for each second, ingress and replica with requests; beyond it, older seconds go. About 1 KB each. */
  sumsMax: 50_000,
  /** Replicas of one ingress that are counted one by one. */
  replicasCounted: 100,
  /** Replicas that left whose last answers are still theirs. */
  leftMax: 10_000,
  /** Hosts of one ingress that are counted one by one for the metrics. */
  hostsCounted: 50,
  /** Ingresses whose failed requests are counted by their path, and how many of each. */
  failedSitesMax: 500,
  failedRoutesKept: 200,
  /** Requests of each second and ingress in the access log with `access_log: sampled`, beside all answers of 500 and above. */
  sampledPerSecond: 10,
  /** Size of a file of the access log, and how many files are kept. */
  accessFileBytesMax: 8 * 1024 * 1024,
  accessFilesMax: 8,
  /** Text of the access log that waits for the disk. */
  accessBufferMax: 4 * 1024 * 1024,
  accessFlushMs: 250,
} as const;
