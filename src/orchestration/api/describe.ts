import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Manifest } from "./manifest.ts";
import { Text } from "../../base/wire/query.ts";
import { Canary } from "./rollouts.ts";
import { PodRecord } from "./pods.ts";
import { oneByName } from "./target.ts";

export const Condition = Type.Object({
  /** Ready, Progressing, Degraded */
  type: Type.String(),
  status: Type.Boolean(),
  /** A stable word: see FailureReason. */
  reason: Type.String(),
  message: Type.String(),
  /** The message without the count of ready replicas that it begins with, where it does. */
  detail: Type.Optional(Type.String()),
  at: Type.String(),
});
export type Condition = Static<typeof Condition>;

/**
 * Status blob of deployments and statefulsets.
 * `phase`: ready; asleep (no replica runs until a request comes); progressing (work under way); stopped (all replicas are frozen: nothing comes up before a start);
 * failing (errors or crashes repeat; still retrying); failed (progress deadline passed, or the spec cannot work; still retried at a slow pace).
 */
export const PodKindStatus = Type.Object({
  phase: Type.Union([
    Type.Literal("ready"),
    Type.Literal("asleep"),
    Type.Literal("progressing"),
    Type.Literal("stopped"),
    Type.Literal("failing"),
    Type.Literal("failed"),
  ]),
  image: Type.String(),
  image_id: Type.Optional(Type.String()),
  spec_hash: Type.String(),
  replicas: Type.Integer(),
  ready_replicas: Type.Integer(),
  updated_replicas: Type.Integer(),
  frozen_replicas: Type.Integer(),
  /** Replicas that berth stop has frozen, with a container or without; left out where there are none. */
  frozen_ids: Type.Optional(Type.Array(Type.String())),
  observed_revision: Type.Integer(),
  observed_generation: Type.Integer(),
  releases: Type.Array(Type.Unknown()),
  /** In answers of describe, while a canary release is under way or keeps the old replicas. */
  canary: Type.Optional(Canary),
  init_failures: Type.Array(Type.Unknown()),
  replica_readiness: Type.Record(Type.String(), Type.Unknown()),
  /** By the first 12 characters of the container's id: restarts that the engine does not count any more. */
  earlier_restarts: Type.Optional(Type.Record(Type.String(), Type.Integer())),
  conditions: Type.Array(Condition),
  warnings: Type.Optional(Type.Array(Type.String())),
  /** Ports that an ingress leads to and that are closed, of replicas that count all the same; the warnings say more. */
  closed_ports: Type.Optional(Type.Array(Type.Integer())),
  last_reconcile_error: Type.Optional(Type.String()),
  /** Failed rounds in a row. */
  attempts: Type.Optional(Type.Integer()),
  last_reconcile_at: Type.String(),
  next_retry_at: Type.Optional(Type.String()),
});
export type PodKindStatus = Static<typeof PodKindStatus>;

export const describe = endpoint({
  method: "GET",
  path: "/describe",
  summary: "Manifest, status, pods and volumes of one resource",
  query: Type.Object({
    kind: Text("kind (required)"),
    ...oneByName,
  }),
  data: Type.Object({
    manifest: Manifest,
    status: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
    pods: Type.Array(PodRecord),
    volumes: Type.Optional(Type.Array(Type.String())),
    block: Type.Optional(Type.String({ description: "of a plugin, that this was expanded from" })),
    /** What to do about replicas that a mount refuses; left out where the engine shows no cause. */
    hints: Type.Optional(Type.Array(Type.String())),
    /** What could not be collected; the rest is still returned. */
    errors: Type.Optional(Type.Array(Type.String())),
  }),
});
