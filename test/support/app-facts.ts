import type { AppFacts, ReplicaFacts } from "../../src/orchestration/api/app-facts.ts";

/** A replica that runs and is ready, but for what is given. */
export function replicaFacts(over: Partial<ReplicaFacts> = {}): ReplicaFacts {
  return {
    id: "c1",
    name: "shop-web.abcde",
    replicaId: "abcde",
    ordinal: undefined,
    node: "local",
    image: "web:1",
    releaseId: undefined,
    state: "running",
    ready: true,
    reason: undefined,
    leaving: false,
    frozen: false,
    createdAt: 0,
    startedAt: 0,
    upSince: 0,
    restarts: 0,
    crashes: 0,
    exitCode: undefined,
    oomKilled: false,
    cannotStart: undefined,
    ports: [],
    ...over,
  };
}

/** deployment/shop/web with one replica, settled, but for what is given. */
export function appFacts(over: Partial<AppFacts> = {}): AppFacts {
  return {
    kind: "deployment",
    scope: "shop",
    name: "web",
    revision: 1,
    generation: 1,
    updatedAt: 0,
    block: undefined,
    image: "web:1",
    status: {
      phase: "ready",
      conditions: [],
      warnings: [],
      observedRevision: 1,
      observedGeneration: 1,
      error: undefined,
      nextRetryAt: undefined,
    },
    replicas: 1,
    frozenIds: [],
    release: undefined,
    rollbackTo: undefined,
    canary: undefined,
    deleting: false,
    pods: [replicaFacts()],
    ...over,
  };
}
