import type { AppFacts } from "../../../orchestration/api/app-facts.ts";
import type { AppState, ReplicaState } from "../../api/app-model.ts";
import { type Moment, replicaView, type ReplicaView } from "./replica.ts";

/** How an app is, from what is known of it at one moment. */
export interface AppJudgement {
  state: AppState;
  /** In a line. */
  summary: string;
  desired: number;
  /** Replicas that serve; never more than are wanted. */
  ready: number;
  replicas: ReplicaView[];
  /** Why it is not as it should be; undefined where it is. */
  cause: string | undefined;
  /** What a rollout under way waits for. */
  deploy: string | undefined;
  /** Epoch ms at which time alone may make another state of it. */
  recheckAt: number | undefined;
}

/**
 * The one place that says how an app is: every list, page and stream shows its word. An app with a replica that dies
 * again and again is never `ready`, also in the moments in which all of its processes run; nor is one whose visitors get
 * errors, as an alert says: `troubled` holds the cause.
 */
export function judge(facts: AppFacts, moment: Moment, troubled?: string): AppJudgement {
  const replicas = facts.pods.map((pod) => replicaView(pod, moment));
  const serving = replicas.filter(({ state }) => state === "ready").length;
  const desired = facts.replicas;
  const sight = { facts, replicas, serving, desired, engineUp: moment.engineUp };
  const found = failing(finding(sight), troubled);
  const count = countText(sight);
  const rechecks = replicas.flatMap(({ recheckAt }) => recheckAt ?? []);
  return {
    ...found,
    summary: found.cause === undefined ? count : `${count}: ${found.cause}`,
    desired,
    ready: Math.min(serving, desired),
    replicas,
    deploy: isDeploying(facts) ? waitText(facts) : undefined,
    recheckAt: rechecks.length === 0 ? undefined : Math.min(...rechecks),
  };
}

interface Sight {
  facts: AppFacts;
  replicas: readonly ReplicaView[];
  serving: number;
  desired: number;
  engineUp: boolean;
}

type Finding = Pick<AppJudgement, "state" | "cause">;

/** What is worse than errors for some stays; a replica too few is less than that. */
function failing(found: Finding, troubled: string | undefined): Finding {
  const isServing = found.state === "ready" || found.state === "degraded";
  return troubled === undefined || !isServing ? found : { state: "failing", cause: troubled };
}

function finding(sight: Sight): Finding {
  const { facts, replicas, serving, desired, engineUp } = sight;
  const phase = facts.status?.phase;
  if (!engineUp) return { state: "unknown", cause: "the container engine cannot be reached" };
  const crashing = first(replicas, "crashing");
  if (crashing !== undefined) return { state: "crashing", cause: causeOf(crashing) };
  if (facts.deleting) return { state: "stopped", cause: "being deleted" };
  if (phase === "asleep") return { state: "asleep", cause: undefined };
  if (desired === 0) return { state: "stopped", cause: "scaled to 0" };
  const stopped = stoppedCount(facts, replicas);
  if (stopped >= desired && serving === 0) return { state: "stopped", cause: "stopped by hand" };
  if (phase === "failed" || phase === "failing") return failed(sight);
  const fallen = first(replicas, "exited") ?? first(replicas, "unready");
  if (fallen !== undefined) return { state: serving > 0 ? "degraded" : "down", cause: causeOf(fallen) };
  if (isDeploying(facts)) return { state: "deploying", cause: undefined };
  if (serving + stopped < desired) return missing(sight);
  return phase === "ready" ? { state: "ready", cause: undefined } : { state: "deploying", cause: undefined };
}

function failed({ facts, replicas, serving }: Sight): Finding {
  const hindered = first(replicas, "exited") ?? first(replicas, "unready") ?? first(replicas, "starting");
  const degraded = facts.status?.conditions.find(({ type, status }) => type === "Degraded" && status);
  const cause = facts.status?.error ?? degraded?.message ?? (hindered && causeOf(hindered)) ?? "not ready";
  return { state: serving > 0 ? "degraded" : "down", cause };
}

/** Fewer than are wanted, and none of them has failed: they are being made, or one has just restarted. */
function missing({ facts, replicas, serving }: Sight): Finding {
  const restarted = replicas.find(({ state, facts: { crashes } }) => state === "starting" && crashes > 0);
  if (restarted !== undefined) return { state: serving > 0 ? "degraded" : "down", cause: causeOf(restarted) };
  const starting = first(replicas, "starting");
  const waits = facts.status?.conditions.find(({ type }) => type === "Ready");
  const cause = starting?.reason ?? (waits?.status === false ? (waits.detail ?? waits.message) : undefined);
  return { state: "deploying", cause };
}

function first(replicas: readonly ReplicaView[], state: ReplicaState): ReplicaView | undefined {
  return replicas.find((replica) => replica.state === state);
}

function causeOf({ facts, reason }: ReplicaView): string {
  return reason === undefined ? `${facts.name} is not ready` : `${facts.name} ${reason}`;
}

function stoppedCount({ frozenIds }: AppFacts, replicas: readonly ReplicaView[]): number {
  const runAllTheSame = replicas.filter(({ facts, state }) => facts.frozen && state !== "stopped").length;
  return frozenIds.length - runAllTheSame;
}

function isDeploying({ release }: AppFacts): boolean {
  return release !== undefined && (release.status === "pending" || release.status === "running");
}

function waitText({ canary, status }: AppFacts): string {
  if (canary !== undefined) return canary.text;
  const waits = status?.conditions.find(({ type }) => type === "Progressing");
  return waits?.detail ?? waits?.message ?? "the rollout has begun";
}

function countText({ facts, replicas, serving, desired }: Sight): string {
  if (facts.status?.phase === "asleep") return "asleep, the first request starts it";
  const stopped = stoppedCount(facts, replicas);
  const count = `${Math.min(serving, desired)} of ${desired} ready`;
  return stopped > 0 ? `${count}, ${stopped} stopped` : count;
}
