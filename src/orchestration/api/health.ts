import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";

export const health = endpoint({
  method: "GET",
  path: "/health",
  summary: "Whether the server answers, and its version; no dependency is checked",
  flat: true,
  data: Type.Object({ status: Type.Literal("ok"), version: Type.String() }),
});

/** What `/health` may not say: the engine, the store, the machine. */
export const SystemReport = Type.Object({
  version: Type.String(),
  installation: Type.String(),
  prefix: Type.String(),
  root: Type.String(),
  /** Path of the server's unix socket. */
  socket: Type.Optional(Type.String()),
  started_at: Type.String(),
  engine: Type.Object({
    up: Type.Boolean(),
    /** When `up` last changed. */
    since: Type.String(),
    host: Type.String(),
    error: Type.Optional(Type.String()),
    version: Type.Optional(Type.String()),
    api_version: Type.Optional(Type.String()),
    cgroup_version: Type.Optional(Type.Integer()),
    live_restore: Type.Optional(Type.Boolean()),
    free_bytes: Type.Optional(Type.Integer()),
  }),
  disks: Type.Optional(
    Type.Array(
      Type.Object({
        path: Type.String(),
        used_percent: Type.Number(),
        free_bytes: Type.Integer(),
        low: Type.Boolean({ description: "no image is pulled any more; soon no change can be stored" }),
        read_only: Type.Optional(Type.Boolean({ description: "nothing can be stored; a disk with errors becomes so" })),
      }),
      { description: "the disks of the server's own files and of the container engine, each once" },
    ),
  ),
  /** Whether containers of the platform network reach each other: tried for real, about every five minutes. */
  forwarding: Type.Optional(
    Type.Object({
      /** open, blocked or untested */
      state: Type.String(),
      detail: Type.String(),
    }),
  ),
  /** Other services of this server and where they listen, `host:port`; clients reach them through a tunnel. */
  listeners: Type.Optional(Type.Array(Type.Object({ name: Type.String(), address: Type.String() }))),
  /** What the server was started with, by flag of `berth serve`; without secrets. */
  settings: Type.Optional(Type.Array(Type.Object({ flag: Type.String(), value: Type.String() }))),
  store: Type.Object({
    manifests: Type.Integer(),
    collection_held: Type.Boolean(),
  }),
  held: Type.Optional(
    Type.String({ description: "why cron jobs, webhooks, mails and certificate orders wait, and what to do" }),
  ),
  reconciler: Type.Object({ queued: Type.Integer(), failing: Type.Integer() }),
});

export const system = endpoint({
  method: "GET",
  path: "/system",
  summary: "State of the engine connection, the store and the reconciler",
  data: SystemReport,
});
