import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag } from "../../base/wire/query.ts";
import { listFilter } from "./target.ts";

/** What one running pod uses (docs/contract/orchestration.md, 2.3). */
export const Stats = Type.Object({
  identity: Type.Object({
    kind: Type.String(),
    scope: Type.String(),
    name: Type.String(),
    replica_id: Type.String(),
  }),
  container_name: Type.String(),
  usage: Type.Object({
    /** 100 is one core, averaged since the reading before. */
    cpu_percent: Type.Number(),
    memory_usage_bytes: Type.Integer(),
    /** The container's limit, or the machine's memory without one. */
    memory_limit_bytes: Type.Integer(),
    memory_percent: Type.Number(),
    /** Absent when the engine does not count. */
    pids: Type.Optional(Type.Integer()),
  }),
  /** Limits of the manifest; absent where it sets none. */
  limits: Type.Object({
    /** Decimal count of CPUs: `0.5`. */
    cpu: Type.Optional(Type.String()),
    /** As written: `512Mi`. */
    memory: Type.Optional(Type.String()),
    memory_bytes: Type.Optional(Type.Integer()),
  }),
  /** Its manifest is gone. */
  orphan: Type.Boolean(),
});
export type Stats = Static<typeof Stats>;

export const listStats = endpoint({
  method: "GET",
  path: "/stats",
  scope: "read",
  summary: "What the running pods use, beside the limits of their manifests",
  query: Type.Object({
    ...listFilter,
    orphans: Flag("also pods whose manifest is gone (default false)"),
    live: Flag("take a reading now instead of the collector's last one (default false)"),
  }),
  data: Type.Object({
    pods: Type.Array(Stats),
    /** The figures are the collector's last reading, not one taken for this request. */
    snapshot: Type.Boolean(),
    sampled_at: Type.String(),
  }),
});
