import { type Static, Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { ApplyResult, Drop, ListedManifest, listManifests } from "../../orchestration/api/apply.ts";
import { listReleases, Message, NoBackup, Release } from "../../orchestration/api/releases.ts";
import { Deploy, Kind } from "./apps.ts";
import { Operation } from "./operations.ts";
import { aliasOf, planeEndpoint } from "./plane-endpoint.ts";

/** A release with the name of the token that asked for it. */
export const ShownRelease = Type.Object({
  ...Release.properties,
  actor_name: Type.Optional(Type.String({ description: "of a token: its name" })),
});
export type ShownRelease = Static<typeof ShownRelease>;

export const listAppReleases = aliasOf(listReleases, {
  path: "/apps/:scope/:name/releases",
  summary: "Releases of an app with their receipts and specs (secrets masked), newest first",
  query: Type.Object({ kind: Kind }),
  data: Type.Object({ releases: Type.Array(ShownRelease) }),
});

/** What another release has that this one has not. */
const SpecChange = Type.Object({
  path: Type.String({ description: "dotted, from the spec: env.LOG_LEVEL" }),
  before: Type.Optional(Type.Unknown()),
  after: Type.Optional(Type.Unknown()),
});

export const diffReleases = planeEndpoint({
  method: "GET",
  path: "/apps/:scope/:name/diff",
  scope: "read",
  summary: "What differs between the specs of two releases, or of a release and what is stored now",
  query: Type.Object({
    kind: Kind,
    from: Text("id of a release (default: the one before `to`)"),
    to: Text("id of a release (default: the newest one)"),
  }),
  data: Type.Object({
    from: Type.Optional(Type.String({ description: "left out where there is none before" })),
    to: Type.String(),
    changes: Type.Array(SpecChange),
  }),
});

export const listDeploys = planeEndpoint({
  method: "GET",
  path: "/deploys",
  scope: "read",
  summary: "The newest release of each app, or all that are kept, newest first",
  query: Type.Object({
    limit: Text("at most this many (default 20, at most 200)"),
    history: Flag("also the releases before the newest of each app, as far as they are kept (default false)"),
    app: Text("SCOPE or SCOPE/NAME"),
    by: Text("a part of who made it: the name of a token, or the actor"),
    status: Text("pending, running, succeeded or failed"),
    since: Text("a time, or how long ago, such as 24h"),
    cursor: Text("`next` of the answer before: goes on to older ones"),
  }),
  data: Type.Object({
    deploys: Type.Array(Deploy),
    next: Type.Optional(Type.String({ description: "cursor of older ones; left out at the end" })),
  }),
});

export const applyManifests = planeEndpoint({
  method: "POST",
  path: "/apply",
  scope: "actions",
  summary: "Store one manifest or an array of them, whole or not at all; with dry_run the plan, and nothing is written",
  query: Type.Object({
    dry_run: Flag("answer with the plan and write nothing (default false)"),
    prune: Flag("delete siblings in the same (scope, kind) that are not in the apply (default false)"),
    force: Flag("ask the registries for the images again (default false)"),
    atomic: Flag("when one resource does not become ready, put all of them back (default false)"),
    take_over: Flag("let a plugin's block have manifests that were applied by themselves (default false)"),
    replace_plugin: Flag("hand blocks that another plugin made to the plugin that is there now (default false)"),
    drop: Drop,
    no_backup: NoBackup,
    message: Message,
  }),
  body: Type.Unknown(),
  data: Type.Composite([
    ApplyResult,
    Type.Object({ operations: Type.Array(Operation, { description: "one for each app that changes" }) }),
  ]),
  alsoAnswers: { 202: "Stored; follow the operations" },
});

export const listStored = aliasOf(listManifests, {
  path: "/manifests",
  summary: "The stored manifests, secrets masked, ordered by kind, scope and name",
  query: Type.Object({ kind: Text("kind, any spelling"), scope: Text("scope"), name: Text("name") }),
  data: Type.Object({ manifests: Type.Array(ListedManifest) }),
  shown: (manifests) => ({ manifests }),
});

export const deleteApp = planeEndpoint({
  method: "DELETE",
  path: "/manifests/:kind/:scope/:name",
  scope: "actions",
  summary: "Delete a resource; kind app: with its ingress; with prune also its config, files and volumes",
  query: Type.Object({
    prune: Flag("wipe config, files and volumes too (default false)"),
    confirm: Text("SCOPE/NAME once more: without it the answer tells what would go (400)"),
  }),
  data: Type.Object({ deleted: Type.Array(Type.String()), warnings: Type.Array(Type.String()) }),
});
