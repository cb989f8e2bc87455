import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Manifest } from "./manifest.ts";
import { Flag } from "../../base/wire/query.ts";
import { listFilter } from "./target.ts";

export const PublishedPort = Type.Object({
  container: Type.String(),
  host_ip: Type.String(),
  host_port: Type.String(),
});
export type PublishedPort = Static<typeof PublishedPort>;

/** Compact pod record: `GET /pods` and `describe`. */
export const PodRecord = Type.Object({
  name: Type.String(),
  kind: Type.String(),
  scope: Type.Optional(Type.String()),
  resource_name: Type.String(),
  replica_id: Type.Optional(Type.String()),
  role: Type.Optional(Type.String()),
  release_id: Type.Optional(Type.String()),
  image: Type.String(),
  /** created, running, restarting, paused, exited, removing, dead, unknown */
  state: Type.String(),
  /** The engine's own words: "Up 2 hours". */
  status: Type.String(),
  running: Type.Boolean(),
  ready: Type.Boolean(),
  frozen: Type.Boolean(),
  /** Being stopped, to be removed or to stay stopped; left out of others. */
  stopping: Type.Optional(Type.Literal(true)),
  restarts: Type.Integer(),
  created_at: Type.Optional(Type.String()),
  started_at: Type.Optional(Type.String()),
  exit_code: Type.Optional(Type.Integer()),
  oom_killed: Type.Optional(Type.Boolean()),
  /** Published ones, while it runs: `80/tcp` of the container, and where it is on the machine. */
  ports: Type.Optional(Type.Array(PublishedPort)),
  /** `local` until there are more machines. */
  node: Type.String(),
  spec: Type.Optional(Manifest),
});
export type PodRecord = Static<typeof PodRecord>;

export const Degraded = Type.Object({
  kind: Type.String(),
  scope: Type.Optional(Type.String()),
  name: Type.String(),
  reason: Type.String(),
  at: Type.Optional(Type.String()),
  replica_ids: Type.Optional(Type.Array(Type.String())),
});
export type Degraded = Static<typeof Degraded>;

export const PodDetail = Type.Object({
  name: Type.String(),
  id: Type.String(),
  kind: Type.String(),
  scope: Type.Optional(Type.String()),
  resource_name: Type.String(),
  replica_id: Type.Optional(Type.String()),
  role: Type.Optional(Type.String()),
  release_id: Type.Optional(Type.String()),
  image: Type.String(),
  image_id: Type.String(),
  status: Type.String(),
  running: Type.Boolean(),
  ready: Type.Boolean(),
  frozen: Type.Boolean(),
  created_at: Type.Optional(Type.String()),
  node: Type.String(),
  state: Type.Object({
    status: Type.String(),
    running: Type.Boolean(),
    exit_code: Type.Optional(Type.Integer()),
    oom_killed: Type.Optional(Type.Boolean()),
    error: Type.Optional(Type.String()),
    started_at: Type.Optional(Type.String()),
    finished_at: Type.Optional(Type.String()),
    restarts: Type.Optional(Type.Integer()),
  }),
  command: Type.Array(Type.String()),
  entrypoint: Type.Array(Type.String()),
  working_dir: Type.String(),
  /** Values that are not literals of the manifest or of the image are masked, except with `env`. */
  env: Type.Record(Type.String(), Type.String()),
  labels: Type.Record(Type.String(), Type.String()),
  networks: Type.Record(
    Type.String(),
    Type.Object({
      network_id: Type.String(),
      ip_address: Type.String(),
      gateway: Type.String(),
      aliases: Type.Array(Type.String()),
    }),
  ),
  mounts: Type.Array(
    Type.Object({
      type: Type.String(),
      source: Type.String(),
      destination: Type.String(),
      mode: Type.String(),
      rw: Type.Boolean(),
      host_path: Type.Optional(Type.String({ description: "where it lies on the server, volumes too" })),
    }),
  ),
  ports: Type.Array(Type.Object({ container: Type.String(), host_ip: Type.String(), host_port: Type.String() })),
  restart_policy: Type.String(),
  log_dropped: Type.Optional(
    Type.Boolean({
      description: "the oldest output is gone, because the log files were full (logs.max_size, logs.max_files)",
    }),
  ),
  spec: Type.Optional(Manifest),
});
export type PodDetail = Static<typeof PodDetail>;

/** A row of the list. With `detail` it is a `PodDetail`; programs of this repository that ask for it read it as one. */
const PodRow = Type.Unsafe<PodRecord>(Type.Union([PodRecord, PodDetail]));

export const listPods = endpoint({
  method: "GET",
  path: "/pods",
  scope: "read",
  summary: "All containers of this installation with their identity",
  query: Type.Object({
    ...listFilter,
    detail: Flag("rows become detail records (default false)"),
    spec: Flag("attach the manifest to each row (default false)"),
    env: Flag("with detail: show every value of the environment in clear; takes the scope admin (default false)"),
  }),
  data: Type.Object({ pods: Type.Array(PodRow), degraded: Type.Array(Degraded) }),
});

export const getPod = endpoint({
  method: "GET",
  path: "/pods/:name",
  scope: "read",
  summary: "One container in detail",
  query: Type.Object({
    spec: Flag("attach the manifest (default false)"),
    env: Flag("show every value of the environment in clear; takes the scope admin (default false)"),
  }),
  data: Type.Object({ pod: PodDetail }),
});

export const Readiness = Type.Object({
  container_name: Type.String(),
  replica_id: Type.Optional(Type.String()),
  ready: Type.Boolean(),
  startup_passed: Type.Boolean(),
  readiness_phase: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  last_transition: Type.Optional(Type.String()),
});
export type Readiness = Static<typeof Readiness>;

export const podReady = endpoint({
  method: "GET",
  path: "/pods/:name/ready",
  summary: "200 when the pod is ready, 503 with the same body when not; from memory",
  data: Type.Object({ readiness: Readiness }),
  alsoAnswers: { 503: "The pod is not ready" },
});

export const stopPod = endpoint({
  method: "POST",
  path: "/pods/:name/stop",
  once: true,
  summary: "Stop a pod; with freeze (default) it stays stopped until start or restart",
  query: Type.Object({ freeze: Flag("keep it stopped (default true)") }),
  data: Type.Object({ name: Type.String(), freeze: Type.Boolean() }),
});

export const startPod = endpoint({
  method: "POST",
  path: "/pods/:name/start",
  once: true,
  summary: "Clear the freeze and recreate the pod; a container without a manifest is only started",
  data: Type.Object({ name: Type.String(), recreated: Type.Boolean(), unfroze: Type.Boolean() }),
});
