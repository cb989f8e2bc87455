import { isoTime, spanTimes } from "../../../base/pure/iso-time.ts";
import type { AppFacts, ReleaseFacts } from "../../../orchestration/api/app-facts.ts";
import { keyOf } from "../../../orchestration/api/manifest-key.ts";
import type { App, AppHost, AppTraffic, AppUsage, ReleaseLine, Replica } from "../../api/app-model.ts";
import type { NameOf } from "./activity.ts";
import type { Alarm } from "./alarms.ts";
import { appProblems } from "./problems.ts";
import type { ReplicaView } from "./replica.ts";
import type { AppJudgement } from "./state.ts";

/** What is known about an app beside its facts. */
interface Surroundings {
  hosts: readonly AppHost[];
  /** Alerts about it. */
  alarms: readonly Alarm[];
  /** Undefined for an app without volumes. */
  backup: App["backup"];
  traffic: AppTraffic | undefined;
  usage: AppUsage | undefined;
  /** Why it takes no changes. */
  locked: string | undefined;
  nameOf: NameOf;
}

/** An app as lists and streams show it. */
export function appView(facts: AppFacts, judgement: AppJudgement, around: Surroundings): App {
  const { hosts, backup, traffic, usage, locked, nameOf } = around;
  return {
    ...keyOf(facts),
    ...(facts.block === undefined ? {} : { block: facts.block }),
    state: judgement.state,
    summary: judgement.summary,
    desired: judgement.desired,
    ready: judgement.ready,
    image: facts.image,
    revision: facts.revision,
    updated_at: isoTime(facts.updatedAt),
    restarts: facts.pods.reduce((sum, { restarts }) => sum + restarts, 0),
    ...(facts.release === undefined ? {} : { release: releaseLine(facts.release, nameOf) }),
    ...(judgement.deploy === undefined ? {} : { deploy: judgement.deploy }),
    hosts: [...hosts],
    problems: appProblems(facts, judgement, around),
    ...(traffic === undefined ? {} : { traffic }),
    ...(usage === undefined ? {} : { usage }),
    ...(locked === undefined ? {} : { locked }),
    backup,
  };
}

export function releaseLine(release: ReleaseFacts, nameOf: NameOf): ReleaseLine {
  const { id, status, cause, actor, message, image, startedAt, endedAt, error, rolledBackFrom } = release;
  const name = actor === undefined ? undefined : nameOf(actor);
  return {
    id,
    status,
    cause,
    ...(name === undefined ? {} : { actor_name: name }),
    ...(actor === undefined ? {} : { actor }),
    ...(message === undefined ? {} : { message }),
    ...(image === undefined ? {} : { image }),
    ...spanTimes(startedAt, endedAt),
    ...(error === undefined ? {} : { error }),
    ...(rolledBackFrom === undefined ? {} : { rolled_back_from: rolledBackFrom }),
  };
}

/** What one replica uses. */
export type ReplicaUsage = NonNullable<Replica["usage"]>;

export function replicaWire({ facts, state, reason }: ReplicaView, usage: ReplicaUsage | undefined): Replica {
  return {
    pod: facts.name,
    replica_id: facts.replicaId,
    state,
    ...(reason === undefined ? {} : { reason }),
    ready: state === "ready",
    image: facts.image,
    ...(facts.releaseId === undefined ? {} : { release_id: facts.releaseId }),
    ...(facts.startedAt === undefined ? {} : { started_at: isoTime(facts.startedAt) }),
    restarts: facts.restarts,
    ...(facts.exitCode === undefined || facts.state === "running" ? {} : { exit_code: facts.exitCode }),
    ...(facts.oomKilled ? { oom_killed: true } : {}),
    ports: facts.ports.map((port) => ({ ...port })),
    node: facts.node,
    ...(usage === undefined ? {} : { usage }),
  };
}
