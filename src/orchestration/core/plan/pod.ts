import type { PodKind } from "../../api/manifest.ts";
import type { RestartPolicy, RolloutPolicy } from "../workload.ts";

/** The states an engine reports; `unknown`: it did not say. */
type ContainerState = "created" | "running" | "restarting" | "paused" | "exited" | "removing" | "dead" | "unknown";

/** One observed container of the workload. Times are milliseconds; `createdAt` comes from the engine, others from the clock of `now`. */
export interface PlannedPod {
  /** The machine that it runs on. */
  node: string;
  id: string;
  /** The name it carries now; by hand it may differ from the one its identity asks for. */
  containerName: string;
  replicaId: string;
  ordinal: number | undefined;
  state: ContainerState;
  hash: string;
  generation: number;
  /**
   * Decided by the controller: running and, without probes, running for at least `minReadyMs`. Of a guarded release it
   * has been watched as well.
   */
  ready: boolean;
  /** It serves, and would be ready without the guard that watches its requests until then. */
  watchedUntil?: number | undefined;
  runningSince: number | undefined;
  createdAt: number;
  exitCode: number | undefined;
  /** As the engine counts: those by its own policy since the container was last started by us. */
  restarts: number;
  /** Ends in a row, no matter what started it again, and when they began; on the clock of `now`. */
  crashes: { count: number; since: number };
  /** Why we ended it ourselves the last time: "killed by its liveness probe". */
  killedFor?: string | undefined;
  /** It was stopped for a restore of its volume: it starts again, whatever its restart policy. */
  restored?: boolean;
  /** Its own words, where its process can never begin: "exec /app: exec format error". */
  cannotStart?: string | undefined;
  /** What its probe fails with, as long as that keeps it from being ready. */
  probe?: string | undefined;
  /** The port of an ingress that is closed, as long as that keeps it from being ready. */
  port?: string | undefined;
  oomKilled: boolean;
  frozen: boolean;
  /** Why a run of ours keeps it out of service for a while, for people: it is left alone, and not ready until that ends. */
  held?: string | undefined;
  /** `init`, `release` …: such containers are never replicas. */
  role: string | undefined;
  /** We are draining and stopping it, beside the rollout that goes on. */
  departing?: boolean;
  /** The platform's network, when somebody disconnected it from that. */
  cutOffFrom?: string | undefined;
  /** Healing back-off: not started before this; 0 for at once. */
  startNotBefore: number;
}

/** What is wanted. A `ResolvedWorkload` fits, with `restart` taken from its container template. */
export interface PlanWorkload {
  kind: PodKind;
  scope: string;
  name: string;
  replicas: number;
  hash: string;
  generation: number;
  restart: RestartPolicy;
  /** Its containers hold ports of the machine: two of them cannot stand side by side. */
  holdsPorts?: boolean;
  rollout: RolloutPolicy;
  /** A release that takes the requests over step by step. */
  canary?: CanaryPhase | undefined;
}

export type CanaryPhase =
  /** Old replicas, those of the spec `baseHash`, all stay; `fresh` new ones run beside them. `text`: for people. */
  | { phase: "step"; fresh: number; baseHash: string | undefined; text: string }
  /** The new replicas have taken over. Old ones of the spec `baseHash` stay aside for a while; `drop`: they go now. */
  | { phase: "keep" | "drop"; baseHash: string | undefined };

export interface WorkloadPlanInput {
  workload: PlanWorkload;
  pods: PlannedPod[];
  /** Replica ids that an operator froze, whether or not their container still exists. */
  frozenIds: string[];
  /** Replica ids that a run of ours holds, and why, for people; whether or not their container still exists. */
  held?: ReadonlyMap<string, string> | undefined;
  /** How many replicas it had when it was last settled; undefined before the first time. */
  settledReplicas?: number | undefined;
  now: number;
}

export type Step =
  /** A new replica; the executor draws the id where `ordinal` is undefined. */
  | { type: "create"; ordinal: number | undefined; why: string }
  /** Heal in place. */
  | { type: "start"; pod: PlannedPod; why: string }
  /** `beside`: the next plan does not wait for its end. */
  | { type: "remove"; pod: PlannedPod; why: string; drain: boolean; forgetFrozen: boolean; beside?: true }
  | { type: "rename"; pod: PlannedPod; to: string; why: string };

export interface WorkloadPlan {
  /** Independent of each other: run them concurrently, then plan again. Order comes from planning again. */
  steps: Step[];
  /** When to plan again although nothing happened: min-ready passing, healing back-off; undefined: only on change. */
  againInMs: number | undefined;
  /** Settled: the wanted count, all current, all ready, none held; frozen replicas aside. */
  done: boolean;
  counts: { ready: number; updated: number; frozen: number; total: number };
  /** One sentence for people: "2 of 3 replicas ready; waiting for shop-web.k3x7a"; undefined when done. */
  waitingFor: string | undefined;
  /** Like `waitingFor`, without the count of ready replicas; left out where there is no such count. */
  waitingDetail?: string;
}
