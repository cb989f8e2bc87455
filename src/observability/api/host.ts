import { type Static, Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

/** What takes room on the machine, as far as it is known. */
export const DiskUse = Type.Object({
  at: Type.String(),
  mounts: Type.Array(
    Type.Object({
      mount: Type.String(),
      used_bytes: Type.Integer(),
      total_bytes: Type.Integer(),
      inodes_used: Type.Optional(Type.Integer()),
      inodes_total: Type.Optional(Type.Integer()),
    }),
  ),
  images: Type.Array(
    Type.Object({
      id: Type.String(),
      tags: Type.Array(Type.String()),
      size_bytes: Type.Integer(),
      created_at: Type.String(),
      used_by: Type.Array(Type.String(), { description: "containers of any owner" }),
      kept_for: Type.Array(Type.String(), { description: "SCOPE/NAME whose releases can go back to it" }),
    }),
  ),
  volumes: Type.Array(
    Type.Object({
      name: Type.String(),
      size_bytes: Type.Optional(Type.Integer()),
      app: Type.Optional(Type.String({ description: "SCOPE/NAME" })),
      leftover: Type.Boolean({ description: "its manifest is gone" }),
    }),
  ),
  build_cache_bytes: Type.Optional(Type.Integer()),
  containers_bytes: Type.Optional(Type.Integer({ description: "what containers wrote into their own layers" })),
  folders: Type.Array(Type.Object({ name: Type.String(), what: Type.String(), bytes: Type.Integer() }), {
    description: "of the server's root",
  }),
});
export type DiskUse = Static<typeof DiskUse>;

export const getDisk = planeEndpoint({
  method: "GET",
  path: "/api/pat/v1/host/disk",
  scope: "host:read",
  summary: "What takes room: mounts, images, volumes, build cache, and the server's own folders",
  data: DiskUse,
});

export const PruneResult = Type.Object({
  dry_run: Type.Boolean(),
  images: Type.Array(Type.Object({ id: Type.String(), tags: Type.Array(Type.String()), size_bytes: Type.Integer() })),
  build_cache: Type.Boolean({ description: "the build cache goes" }),
  freed_bytes: Type.Integer({ description: "at most: images share layers" }),
  errors: Type.Array(Type.String()),
});
export type PruneResult = Static<typeof PruneResult>;

export const pruneDisk = planeEndpoint({
  method: "POST",
  path: "/api/pat/v1/host/prune",
  scope: "admin",
  summary: "Remove images that no container uses and no release can go back to; never a volume",
  query: Type.Object({
    dry_run: Flag("tell what would go and remove nothing (default true)"),
    older_than: Text("only images made longer ago than this (default 1d)"),
    build_cache: Flag("the build cache too (default false)"),
  }),
  data: PruneResult,
});
