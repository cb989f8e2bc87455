import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Receipt } from "./receipt.ts";
import { Canary } from "./rollouts.ts";
import { ReleaseReasons } from "./reasons.ts";
import { Flag, Text } from "../../base/wire/query.ts";
import { oneByName } from "./target.ts";

/** Release record (newest first in `describe`'s `status.releases`). Times are ISO 8601. */
export const Release = Type.Object({
  id: Type.String(),
  /** pending: waits for its release phase; running: replicas are being replaced. */
  status: Type.Union([
    Type.Literal("pending"),
    Type.Literal("running"),
    Type.Literal("succeeded"),
    Type.Literal("failed"),
  ]),
  cause: Type.String(),
  actor: Type.Optional(Type.String({ description: "the caller that asked for it, or reconciler" })),
  message: Type.Optional(Type.String({ description: "what the caller wrote about it" })),
  rolled_back_from: Type.Optional(Type.String()),
  taken_back: Type.Optional(Type.Array(Type.String(), { description: "dotted paths that this rollback changed back" })),
  spec_hash: Type.String(),
  revision: Type.Integer(),
  image: Type.Optional(Type.String()),
  image_id: Type.Optional(Type.String()),
  build_id: Type.Optional(Type.String({ description: "of an image that was built from source" })),
  started_at: Type.String(),
  ended_at: Type.Optional(Type.String()),
  pre_exit_code: Type.Optional(Type.Integer()),
  exit_code: Type.Optional(Type.Integer()),
  post_exit_code: Type.Optional(Type.Integer()),
  error: Type.Optional(Type.String()),
  /** Once the release has ended, where an ingress leads to the resource. */
  receipt: Type.Optional(Receipt),
  reasons: Type.Optional(ReleaseReasons),
  /** While its steps are under way, or it keeps the old replicas. */
  canary: Type.Optional(Canary),
  /** The whole spec as stored, secrets masked. */
  spec_snapshot: Type.Record(Type.String(), Type.Unknown()),
});
export type Release = Static<typeof Release>;

/** Why a release is made, for people who read the list of releases later. */
export const Message = Text("why, in a line: kept with the releases that this makes (at most 500 characters)");

/** Query of what may change the image of a database. */
export const NoBackup = Flag("change the image of a database without a backup before (default false)");

export const runRelease = endpoint({
  method: "POST",
  path: "/releases/run",
  once: true,
  stream: "text/plain; charset=utf-8",
  summary: "Run the release phase of a deployment and roll it; the output streams as plain text, its last line tells",
  query: Type.Object({
    ...oneByName,
    message: Message,
    follow: Flag("follow the release that is under way instead of starting one (default false)"),
  }),
});

export const listReleases = endpoint({
  method: "GET",
  path: "/releases",
  scope: "read",
  summary: "Releases of one resource, newest first",
  query: Type.Object({
    kind: Text("deployment (default) or statefulset"),
    ...oneByName,
  }),
  data: Type.Object({ releases: Type.Array(Release) }),
});

export const rollback = endpoint({
  method: "POST",
  path: "/rollback",
  once: true,
  summary: "Put the spec of a past release back; without release_id the newest good one that differs",
  query: Type.Object({
    kind: Text("deployment (default) or statefulset"),
    ...oneByName,
    release_id: Text("release to return to"),
    message: Message,
    dry_run: Flag("answer where it goes and which fields change, and store nothing (default false)"),
    no_backup: NoBackup,
  }),
  data: Type.Object({
    scope: Type.String(),
    name: Type.String(),
    kind: Type.String(),
    rolled_back_to: Type.String(),
    new_release: Type.Optional(Type.String({ description: "the release that this makes; absent in a dry run" })),
    taken_back: Type.Optional(
      Type.Array(Type.String(), { description: "dotted paths of the fields that it changes back" }),
    ),
  }),
});
