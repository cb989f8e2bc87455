import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag } from "../../base/wire/query.ts";
import { OneOf } from "../../base/wire/shape.ts";
import { Leftover } from "./leftovers.ts";

const bytes = (description: string) => Type.Integer({ description });

/** A volume of the engine that this server made, or that an app of it names. */
export const VolumeUse = Type.Object({
  volume: Type.String({ description: "name in the engine" }),
  scope: Type.String(),
  name: Type.String({ description: "of the app; empty: it belongs to the scope" }),
  state: OneOf(
    ["used", "idle", "kept", "leftover"],
    "used: a container mounts it; idle: the app exists and no container mounts it; kept: no prune removes it; leftover: its app is gone",
  ),
  bytes: Type.Optional(bytes("left out where the engine did not measure it")),
  remove: Type.Optional(Type.String({ description: "the command that removes it, of a leftover" })),
});
export type VolumeUse = Static<typeof VolumeUse>;

const EngineUse = Type.Object({
  images: Type.Object({
    count: Type.Integer(),
    bytes: bytes("all layers, shared ones once"),
    used_bytes: bytes("of images that a container uses; layers that they share count for each"),
    rollback_bytes: bytes("of images that no container uses and a rollback needs"),
    removable_bytes: bytes("of images that this server brought and nothing needs"),
    foreign_bytes: bytes("of unused images that this server did not bring; it never removes them"),
  }),
  build_cache: Type.Object({ bytes: Type.Integer(), unused_bytes: Type.Integer() }),
  volumes: Type.Object({ count: Type.Integer(), bytes: bytes("of all volumes of the engine that it measured") }),
  containers: Type.Object({
    count: Type.Integer(),
    writable_bytes: bytes("what containers wrote outside of volumes"),
    log_bytes: Type.Optional(bytes("their log files; left out where they cannot be read")),
  }),
});

const StoreUse = Type.Object({
  name: Type.String(),
  path: Type.String(),
  bytes: Type.Integer(),
  cap: Type.String({ description: "what bounds it" }),
  cap_bytes: Type.Optional(Type.Integer()),
});

export const DiskUse = Type.Object({
  measured_at: Type.Optional(Type.String({ description: "left out before the first measurement" })),
  measuring: Type.Boolean({ description: "a measurement is under way" }),
  error: Type.Optional(Type.String({ description: "why the last measurement failed" })),
  engine: Type.Optional(EngineUse),
  stores: Type.Array(StoreUse, { description: "of the server itself" }),
  volumes: Type.Array(VolumeUse),
});
export type DiskUse = Static<typeof DiskUse>;

export const getDisk = endpoint({
  method: "GET",
  path: "/disk",
  summary: "What fills the disk, measured at most once a minute and in the background",
  query: Type.Object({ wait: Flag("answer when a measurement has ended (default false)") }),
  data: DiskUse,
});

const UnusedImage = Type.Object({ id: Type.String(), ref: Type.String(), bytes: Type.Integer() });

export const PrunePlan = Type.Object({
  images: Type.Array(UnusedImage, { description: "that this server brought, and no container and no rollback needs" }),
  build_cache_bytes: Type.Integer(),
  bytes: Type.Integer({ description: "of both; images may share layers, so less may come free" }),
  leftovers: Type.Array(Leftover, { description: "data of deleted apps: only delete with prune removes it" }),
});
export type PrunePlan = Static<typeof PrunePlan>;

export const planPrune = endpoint({
  method: "GET",
  path: "/prune",
  scope: "host:read",
  summary: "What a prune would remove; nothing is removed",
  data: PrunePlan,
});

export const Pruned = Type.Object({
  images: Type.Array(UnusedImage, { description: "that were removed" }),
  build_cache_bytes: Type.Integer(),
  bytes: Type.Integer(),
});
export type Pruned = Static<typeof Pruned>;

export const prune = endpoint({
  method: "POST",
  path: "/prune",
  scope: "admin",
  summary: "Removes unused build cache, and images that this server brought and that nothing needs",
  data: Pruned,
});
