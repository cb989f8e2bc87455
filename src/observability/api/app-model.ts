import { type Static, Type } from "@sinclair/typebox";
import { AppBackup } from "../../backups/api/backups.ts";
import { OneOf } from "../../base/wire/shape.ts";

/** Which deployment or statefulset. */
export const AppRef = Type.Object({ kind: Type.String(), scope: Type.String(), name: Type.String() });
export type AppRef = Static<typeof AppRef>;

/** From the best to the worst, so that a list can be ordered by it. */
export const appStates = [
  "ready",
  "asleep",
  "stopped",
  "deploying",
  "unknown",
  "degraded",
  "failing",
  "crashing",
  "down",
] as const;
export type AppState = (typeof appStates)[number];

const AppStateWord = OneOf(
  appStates,
  "ready: all wanted replicas are ready; asleep: the next request starts it; stopped: every replica was stopped by a " +
    "person; deploying: replicas are being replaced and none has failed; unknown: the engine cannot be reached; " +
    "degraded: it serves, and something is wrong; failing: it serves, and its visitors get errors; crashing: a replica dies again and again, or cannot start; " +
    "down: no replica is ready and none is on its way",
);

export const replicaStates = [
  "ready",
  "starting",
  "unready",
  "stopping",
  "stopped",
  "crashing",
  "exited",
  "unknown",
] as const;
export type ReplicaState = (typeof replicaStates)[number];

/** One container of an app. */
export const Replica = Type.Object({
  pod: Type.String({ description: "name of the container: SCOPE-NAME.REPLICA" }),
  replica_id: Type.String(),
  state: OneOf(
    replicaStates,
    "unready: it runs, and a probe fails or has not passed; stopped: a person stopped it; crashing: it died more than " +
      "once and has not run for long since; exited: it does not run, and comes back",
  ),
  reason: Type.Optional(Type.String({ description: "why it is not ready, for people" })),
  ready: Type.Boolean(),
  image: Type.String(),
  release_id: Type.Optional(Type.String()),
  started_at: Type.Optional(Type.String()),
  restarts: Type.Integer(),
  exit_code: Type.Optional(Type.Integer()),
  oom_killed: Type.Optional(Type.Boolean()),
  ports: Type.Array(Type.Object({ container: Type.String(), host_ip: Type.String(), host_port: Type.String() })),
  node: Type.String(),
  usage: Type.Optional(
    Type.Object({
      cpu_percent: Type.Number({ description: "100 is one core" }),
      memory_bytes: Type.Integer(),
      memory_limit_bytes: Type.Integer(),
    }),
  ),
});
export type Replica = Static<typeof Replica>;

export const severities = ["critical", "warning", "notice"] as const;
export type Severity = (typeof severities)[number];

/** One thing that needs attention. The worst come first in every list. */
export const AppProblem = Type.Object({
  id: Type.String({ description: "stays the same while the problem lasts: crash_loop/deployment/shop/web" }),
  severity: OneOf(severities, "critical: visitors notice it; warning: they soon may; notice: good to know"),
  type: Type.String({
    description:
      "a stable word: crash_loop, out_of_memory, not_ready, failed_release, certificate; of an alert: its rule",
  }),
  title: Type.String({ description: "at most 80 characters" }),
  cause: Type.String(),
  command: Type.Optional(Type.String({ description: "the command to type next" })),
  since: Type.Optional(Type.String()),
  app: Type.Optional(AppRef),
});
export type AppProblem = Static<typeof AppProblem>;

/** A host name that leads to an app. */
export const AppHost = Type.Object({
  host: Type.String(),
  paths: Type.Array(Type.String()),
  tls: Type.Boolean(),
  url: Type.String(),
  ingress: Type.String({ description: "SCOPE/NAME of the ingress" }),
  certificate: Type.Optional(
    Type.Object({
      state: Type.String({ description: "valid, expired, pending or failed" }),
      not_after: Type.Optional(Type.String()),
      issuer: Type.String(),
      error: Type.Optional(Type.String()),
    }),
  ),
});
export type AppHost = Static<typeof AppHost>;

/** One release in a line; the whole of it is among the app's releases. */
export const ReleaseLine = Type.Object({
  id: Type.String(),
  status: Type.String({ description: "pending, running, succeeded or failed" }),
  cause: Type.String(),
  actor: Type.Optional(Type.String()),
  actor_name: Type.Optional(Type.String({ description: "of a token: its name" })),
  message: Type.Optional(Type.String()),
  image: Type.Optional(Type.String()),
  started_at: Type.String(),
  ended_at: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  rolled_back_from: Type.Optional(Type.String()),
});
export type ReleaseLine = Static<typeof ReleaseLine>;

/** Requests of the last minute over all ingresses that lead to the app. */
export const AppTraffic = Type.Object({
  seconds: Type.Integer(),
  requests: Type.Integer(),
  rate: Type.Number({ description: "requests per second" }),
  failed: Type.Integer({ description: "answers of 500 and above, and answers that broke off" }),
  p50_ms: Type.Optional(Type.Integer()),
  p99_ms: Type.Optional(Type.Integer({ description: "the slowest of its ingresses" })),
});
export type AppTraffic = Static<typeof AppTraffic>;

/** Sums over the replicas that run. */
export const AppUsage = Type.Object({
  cpu_percent: Type.Number({ description: "100 is one core" }),
  memory_bytes: Type.Integer(),
  memory_limit_bytes: Type.Optional(Type.Integer({ description: "left out where a replica has none" })),
});
export type AppUsage = Static<typeof AppUsage>;

const Points = Type.Array(Type.Union([Type.Number(), Type.Null()]), {
  description: "oldest first; null: not measured",
});

/** The last minutes as small lines. */
export const Sparks = Type.Object({
  step_seconds: Type.Integer(),
  until: Type.String({ description: "time of the newest point" }),
  cpu_percent: Points,
  memory_bytes: Points,
  rate: Points,
  failed_rate: Points,
});
export type Sparks = Static<typeof Sparks>;

/** What every list of apps shows. */
export const App = Type.Object({
  ...AppRef.properties,
  block: Type.Optional(Type.String({ description: "of a plugin, that it was expanded from: postgres/data/main" })),
  state: AppStateWord,
  summary: Type.String({ description: "how it is, in a line" }),
  desired: Type.Integer({ description: "replicas that are wanted" }),
  ready: Type.Integer({ description: "replicas that are ready" }),
  image: Type.String(),
  revision: Type.Integer(),
  updated_at: Type.Optional(Type.String()),
  restarts: Type.Integer({ description: "of all replicas" }),
  release: Type.Optional(ReleaseLine),
  deploy: Type.Optional(Type.String({ description: "what a release under way waits for" })),
  hosts: Type.Array(AppHost),
  problems: Type.Array(AppProblem),
  traffic: Type.Optional(AppTraffic),
  usage: Type.Optional(AppUsage),
  sparks: Type.Optional(Sparks),
  locked: Type.Optional(Type.String({ description: "why it takes no changes" })),
  backup: Type.Optional(AppBackup),
});
export type App = Static<typeof App>;
