import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { closingFields } from "./kinds/ingress-plugin.ts";
import { Manifest } from "./manifest.ts";
import { Flag, Text } from "../../base/wire/query.ts";
import { Message, NoBackup } from "./releases.ts";
import { ImagePull } from "./restart.ts";
import { oneByName } from "./target.ts";

/** One row of the consequence plan of a dry run. */
export const PlanRow = Type.Object({
  ref: Type.String({ description: "kind/scope/name" }),
  action: Type.Union([
    Type.Literal("create"),
    Type.Literal("update"),
    Type.Literal("unchanged"),
    Type.Literal("delete"),
  ]),
  changed: Type.Array(Type.String(), { description: "dotted paths of changed fields" }),
  replicas: Type.Array(
    Type.Object({
      replica_id: Type.Optional(
        Type.String({ description: "absent: a replica of a deployment gets its id when it is made" }),
      ),
      action: Type.Union([Type.Literal("create"), Type.Literal("replace"), Type.Literal("remove")]),
      why: Type.String(),
    }),
  ),
  serving: Type.Optional(
    Type.Object(
      {
        before: Type.Integer({ description: "replicas that serve before and after" }),
        least: Type.Integer({
          description: "the fewest that serve while replicas are replaced; 0: the app is down then",
        }),
      },
      { description: "where replicas are replaced that serve now" },
    ),
  ),
  notes: Type.Array(Type.String(), { description: "what the operator should know: strategy, fields not acted upon" }),
});
export type PlanRow = Static<typeof PlanRow>;

export const ApplyResult = Type.Object({
  applied: Type.Array(Manifest),
  pruned: Type.Array(Type.String()),
  plugin_installs: Type.Optional(
    Type.Array(Type.Object({ plugin: Type.String(), version: Type.String(), source: Type.String() })),
  ),
  plugin_expansions: Type.Optional(Type.Array(Type.Object({ from: Type.String(), to: Type.Array(Type.String()) }))),
  current: Type.Optional(Type.Array(Type.Union([Manifest, Type.Null()]))),
  dry_run: Type.Optional(Type.Boolean()),
  plan: Type.Optional(Type.Array(PlanRow)),
  warnings: Type.Optional(Type.Array(Type.String())),
  atomic: Type.Optional(Type.String({ description: "with atomic: the id for GET /applies/{id}" })),
  image_pulls: Type.Optional(Type.Array(ImagePull)),
});
export type ApplyResult = Static<typeof ApplyResult>;

/** Query of what applies: an ingress may lose these as another plugin takes it. */
export const Drop = Text(
  `fields that close a site, such as allow,basic_auth: an ingress that goes to a plugin, or to another one, may lose these; without it the apply is a 409 (${closingFields.join(", ")})`,
);

export const apply = endpoint({
  method: "POST",
  path: "/apply",
  once: true,
  summary: "Store one manifest or an array of them, whole or not at all",
  query: Type.Object({
    dry_run: Flag("answer with the plan and write nothing (default false)"),
    prune: Flag("delete siblings in the same (scope, kind) that are not in the apply (default false)"),
    force: Flag("ask the registries for the images again; replicas roll where a tag moved (default false)"),
    atomic: Flag("when one resource does not become ready, put all of them back as they were (default false)"),
    no_backup: NoBackup,
    message: Message,
    take_over: Flag("let a plugin's block have manifests that were applied by themselves (default false)"),
    unbuilt: Flag(
      "take a build without an id: the app runs on its newest image, or waits for the first (default false)",
    ),
    replace_plugin: Flag("hand blocks that another plugin made to the plugin that is there now (default false)"),
    drop: Drop,
  }),
  /** One manifest or an array; validated by the server itself, so that every fault is reported with its path. */
  body: Type.Unknown(),
  data: ApplyResult,
});

/** A row of the list; how it is stands there where that was asked for. */
export const ListedManifest = Type.Composite([
  Manifest,
  Type.Object({
    status: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "as `describe` has it" })),
  }),
]);
export type ListedManifest = Static<typeof ListedManifest>;

export const listManifests = endpoint({
  method: "GET",
  path: "/apply",
  scope: "read",
  summary: "The stored manifests, ordered by kind, scope and name",
  query: Type.Object({
    kind: Text("kind, any spelling"),
    scope: Text("scope"),
    name: Text("name"),
    blocks: Flag("without a kind: plugins' blocks too, before the rest (default false)"),
    status: Flag("tell how each is (default false)"),
  }),
  data: Type.Array(ListedManifest),
});

/** What a delete with `prune` wiped (docs/contract/orchestration.md, 2.4). */
export const PruneSummary = Type.Object({
  config_wiped: Type.Boolean(),
  app_dir_removed: Type.Boolean(),
  volume_removed: Type.Boolean(),
  volumes_removed: Type.Array(Type.String()),
  volumes_kept: Type.Optional(Type.Array(Type.String({ description: "a volume, and why it stays" }))),
  errors: Type.Array(Type.String()),
});
export type PruneSummary = Static<typeof PruneSummary>;

export const deleteManifest = endpoint({
  method: "DELETE",
  path: "/apply",
  once: true,
  summary: "Remove one manifest; with prune also its config, app directory and statefulset volumes",
  query: Type.Object({
    kind: Text("kind (required)"),
    ...oneByName,
    prune: Flag("wipe config, files and volumes too (default false)"),
    keep_children: Flag("of a plugin's block: leave what it was expanded into (default false)"),
  }),
  data: Type.Object({
    pruned: PruneSummary,
    deleted: Type.Optional(
      Type.Array(Type.String(), { description: "of a block or an app: everything that went with it" }),
    ),
    warnings: Type.Optional(Type.Array(Type.String())),
  }),
});
