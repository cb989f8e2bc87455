import type { PlannedPod, PlanWorkload, Step } from "../../../../../src/orchestration/core/plan/pod.ts";
import type { RestartPolicy, RolloutPolicy } from "../../../../../src/orchestration/core/workload.ts";

export const now = 1_700_000_000_000;
export const aMinute = 60_000;

type Wanted = Partial<Omit<PlanWorkload, "rollout" | "restart">> & {
  rollout?: Partial<RolloutPolicy>;
  restart?: RestartPolicy["name"];
};

/** Three wanted, spec `new`, generation 2. */
export function workload({ rollout, restart = "unless-stopped", ...rest }: Wanted = {}): PlanWorkload {
  return {
    kind: "deployment",
    scope: "shop",
    name: "web",
    replicas: 3,
    hash: "new",
    generation: 2,
    restart: { name: restart, maximumRetryCount: 0 },
    rollout: {
      strategy: "rolling",
      strategyReason: undefined,
      maxSurge: 1,
      maxUnavailable: 0,
      minReadyMs: 2_000,
      progressDeadlineMs: 300_000,
      crashRestarts: 5,
      crashAfterMs: aMinute,
      drainMs: 30_000,
      autoRollback: true,
      guard: undefined,
      canary: undefined,
      ...rollout,
    },
    ...rest,
  };
}

/** A current replica that serves, `a` for an id or a number for an ordinal. */
export function pod(identity: string | number, change: Partial<PlannedPod> = {}): PlannedPod {
  const replicaId = String(identity);
  return {
    node: "local",
    id: `id-${replicaId}`,
    containerName: `shop-web.${replicaId}`,
    replicaId,
    ordinal: typeof identity === "number" ? identity : undefined,
    state: "running",
    hash: "new",
    generation: 2,
    ready: true,
    runningSince: now - aMinute,
    createdAt: now - aMinute,
    exitCode: undefined,
    restarts: 0,
    crashes: { count: 0, since: now - aMinute },
    oomKilled: false,
    frozen: false,
    role: undefined,
    startNotBefore: 0,
    ...change,
  };
}

export const old: Partial<PlannedPod> = { hash: "old" };
export const starting: Partial<PlannedPod> = { ready: false, runningSince: now - 500 };
export const exited: Partial<PlannedPod> = { state: "exited", ready: false, runningSince: undefined, exitCode: 137 };
export const oldStarting = { ...old, ...starting };
export const oldExited = { ...old, ...exited };

/** Steps as short words, sorted: `create`, `create 2`, `remove a`, `start b`, `rename c`. */
export function words(steps: readonly Step[]): string[] {
  return steps
    .map((step) =>
      step.type === "create" ? `create ${step.ordinal ?? ""}`.trim() : `${step.type} ${step.pod.replicaId}`,
    )
    .sort();
}
