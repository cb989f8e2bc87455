/**
 * What a spec means where it is silent, one table per block. The field tables, the decoder of stored specs and the rules
 * read it here; `routing-defaults.ts` has the table of ingresses.
 */
export const containerDefaults = {
  pull: "missing",
  networkMode: "bridge",
  logSize: "10m",
  logFiles: 3,
  stopGrace: "10s",
  /** Processes and threads; `--pids-limit` in `docker_options` sets another, -1 none. */
  pidsLimit: 4096,
} as const;

export const podDefaults = { replicas: 1, restart: "unless-stopped" } as const;

export const backupDefaults = { every: "24h" } as const;

/** Kinds of probes, in the order in which they begin. Here, so that who decodes a spec makes no schemas. */
export const probeNames = ["startup", "liveness", "readiness"] as const;

export const probeDefaults = {
  scheme: "http",
  initialDelay: "0s",
  period: "10s",
  timeout: "1s",
  failureThreshold: 3,
  successThreshold: 1,
} as const;

export const initDefaults = { timeout: "10m", retries: 0 } as const;

export const rolloutDefaults = {
  maxSurge: 1,
  maxUnavailable: 0,
  minReady: "2s",
  progressDeadline: "5m",
  crashRestarts: 5,
  crashAfter: "60s",
  drain: "30s",
  /** Connections to a database never end: waiting for them only makes a roll long. */
  statefulsetDrain: "0s",
  autoRollback: true,
  keep: "0s",
  guardOver: "30s",
  guardRequests: 20,
} as const;

export const releaseDefaults = { timeout: "10m" } as const;

export const autoscaleDefaults = { cooldownUp: "30s", cooldownDown: "5m" } as const;

export const sleepDefaults = { idleAfter: "15m" } as const;

export const webhookDefaults = { method: "POST" } as const;

export const jobDefaults = { retries: 0, succeededKept: 3, failedKept: 1 } as const;

export const cronjobDefaults = {
  timezone: "UTC",
  policy: "Allow",
  /** Late enough for a slow or restarted server, too early for a backlog. */
  startingDeadline: "100s",
} as const;

export const fetchDefaults = { timeout: "30s", onFailure: "stale" } as const;
