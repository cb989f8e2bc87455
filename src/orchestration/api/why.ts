import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";
import { Condition } from "./describe.ts";
import { JobRun } from "./jobs.ts";
import { ReleaseReasons } from "./reasons.ts";
import { Canary } from "./rollouts.ts";
import { Event } from "./events.ts";
import { oneByName } from "./target.ts";

/** How a replica died, kept after its container is gone. */
export const Death = Type.Object({
  replica_id: Type.String(),
  container_id: Type.String(),
  at: Type.String(),
  exit_code: Type.Optional(Type.Integer()),
  /** Behind an exit code above 128: 137 is SIGKILL. */
  signal: Type.Optional(Type.String()),
  oom_killed: Type.Boolean(),
  /** The server ended it, because its liveness probe failed. */
  killed: Type.Optional(Type.Boolean()),
  reason: Type.String(),
  image: Type.String(),
  release_id: Type.Optional(Type.String()),
  /** The last lines of its output, at most 100. */
  logs: Type.Array(Type.String()),
  /** The last probe exchanges, newest last. */
  probes: Type.Array(Type.String()),
  /** What to do about it, where the engine shows why a mount refused the program. */
  hint: Type.Optional(Type.String()),
});
export type Death = Static<typeof Death>;

/** A replica that runs, and that its startup or readiness probe keeps from being ready. */
export const Unready = Type.Object({
  replica_id: Type.String(),
  container: Type.String(),
  /** startup or readiness */
  probe: Type.String(),
  /** What it asks: `GET :8080/ready`. */
  check: Type.String(),
  /** The first failure of those in a row. */
  since: Type.String(),
  /** What the last attempt got: status and first line of the body, `connection refused`, exit code and output. */
  got: Type.String(),
  /** The last lines of the replica's output, at most 100. */
  logs: Type.Array(Type.String()),
  /** As of a death. */
  hint: Type.Optional(Type.String()),
});
export type Unready = Static<typeof Unready>;

/** One that failed, or came through but for its last command. */
export const FailedRelease = Type.Object({
  id: Type.String(),
  cause: Type.String(),
  image: Type.Optional(Type.String()),
  started_at: Type.String(),
  ended_at: Type.Optional(Type.String()),
  error: Type.String(),
  reasons: Type.Optional(ReleaseReasons),
  pre_exit_code: Type.Optional(Type.Integer()),
  exit_code: Type.Optional(Type.Integer()),
  post_exit_code: Type.Optional(Type.Integer()),
  /** The last lines that its phase printed, at most 100. */
  output: Type.Array(Type.String()),
  /** The release whose spec came back in its place. */
  rolled_back_to: Type.Optional(Type.String()),
});
export type FailedRelease = Static<typeof FailedRelease>;

/** A run of a job or cron job that failed, took too long, or was missed. */
export const FailedRun = Type.Object({
  ...JobRun.properties,
  /** Behind an exit code above 128. */
  signal: Type.Optional(Type.String()),
});
export type FailedRun = Static<typeof FailedRun>;

export const Why = Type.Object({
  kind: Type.String(),
  scope: Type.String(),
  name: Type.String(),
  /** The resource is gone; the answer is from before. */
  deleted: Type.Boolean(),
  /** The moment that `events` leads up to: the last death, failed release or failed run, else now. */
  at: Type.String(),
  phase: Type.Optional(Type.String()),
  /** Its manifest names no image: what it runs is built on the server. */
  built: Type.Optional(Type.Boolean()),
  /** For an ingress: the name in its scope that it sends requests to, or a part of the server such as `@identity`. */
  service: Type.Optional(Type.String()),
  conditions: Type.Array(Condition),
  /** Replicas that berth stop has frozen; left out where there are none. */
  frozen_ids: Type.Optional(Type.Array(Type.String())),
  last_reconcile_error: Type.Optional(Type.String()),
  /** What is wrong although it is ready, such as a closed port that an ingress leads to. */
  warnings: Type.Optional(Type.Array(Type.String())),
  next_retry_at: Type.Optional(Type.String()),
  /** Replicas that a failing probe keeps from being ready just now, longest first; at most 3. */
  unready: Type.Optional(Type.Array(Unready)),
  /** A canary release under way, or one that keeps the old replicas. */
  canary: Type.Optional(Canary),
  death: Type.Optional(Death),
  /** Deaths that are on record. */
  deaths: Type.Integer(),
  failed_release: Type.Optional(FailedRelease),
  /** The release that a rollback would go back to. */
  rollback_to: Type.Optional(Type.String()),
  /** For a job or cron job: the last failed run that its history keeps. */
  failed_run: Type.Optional(FailedRun),
  /** The hour before `at`, oldest first: of the resource, and of the config and assets that it reads. */
  events: Type.Array(Event),
});
export type Why = Static<typeof Why>;

export const why = endpoint({
  method: "GET",
  path: "/why",
  summary:
    "Everything known about the last death, failed rollout or failed run of a resource, deaths also after it is gone; of an ingress, how it is served now",
  query: Type.Object({
    kind: Text("deployment, statefulset, job, cronjob or ingress; found by itself, 400 when several fit"),
    ...oneByName,
  }),
  data: Why,
});
