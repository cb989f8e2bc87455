import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { DispatchResult, PluginRun } from "../../orchestration/api/dispatch.ts";
import { InstallBody, InstallOutcome, PluginInfo, UpdateBody } from "../../orchestration/api/plugins.ts";
import { appStates } from "./app-model.ts";
import { planeEndpoint } from "./plane-endpoint.ts";
import { OneOf } from "../../base/wire/shape.ts";

export const listPlanePlugins = planeEndpoint({
  method: "GET",
  path: "/api/pat/v1/plugins",
  scope: "read",
  summary: "Plugins with their commands and grants; those that cannot be used are listed in errors",
  data: Type.Object({ plugins: Type.Array(PluginInfo), errors: Type.Array(Type.String()) }),
});

export const listPlanePluginRuns = planeEndpoint({
  method: "GET",
  path: "/api/pat/v1/plugins/runs",
  scope: "read",
  summary: "Runs of plugins, newest first",
  query: Type.Object({ plugin: Text("only of this plugin"), limit: Text("at most this many (100)") }),
  data: Type.Object({ runs: Type.Array(PluginRun) }),
});

export const installPlanePlugin = planeEndpoint({
  method: "POST",
  path: "/api/pat/v1/plugins/install",
  scope: "admin",
  summary: "Install a plugin; with preview the grant that it asks for, and nothing is changed",
  body: InstallBody,
  data: InstallOutcome,
});

export const updatePlanePlugin = planeEndpoint({
  method: "POST",
  path: "/api/pat/v1/plugins/:name/update",
  scope: "admin",
  summary: "Install a plugin again from its source",
  query: Type.Object({ version: Text("instead of the newest") }),
  body: UpdateBody,
  data: InstallOutcome,
});

const byName = (verb: string, summary: string) => ({
  method: "POST" as const,
  path: `/api/pat/v1/plugins/:name/${verb}`,
  scope: "admin" as const,
  summary,
  data: PluginInfo,
});

export const rollbackPlanePlugin = planeEndpoint(byName("rollback", "Return to the version before the last install"));
export const enablePlanePlugin = planeEndpoint(byName("enable", "Let a disabled plugin run again"));
export const disablePlanePlugin = planeEndpoint(byName("disable", "Keep a plugin but refuse to run it"));

export const removePlanePlugin = planeEndpoint({
  method: "DELETE",
  path: "/api/pat/v1/plugins/:name",
  scope: "admin",
  summary: "Remove a plugin; one that is not there is fine",
  data: Type.Object({ name: Type.String(), removed: Type.Boolean() }),
});

/** A block of a plugin, such as a database, and how what it became is. */
export const BlockView = Type.Object({
  plugin: Type.String(),
  kind: Type.String(),
  scope: Type.String(),
  name: Type.String(),
  version: Type.String({ description: "of the plugin that expanded it" }),
  state: OneOf(appStates, "the worst of what it was expanded into"),
  children: Type.Array(Type.String(), { description: "kind/scope/name" }),
  commands: Type.Array(
    Type.Object({
      name: Type.String(),
      help: Type.Optional(Type.String()),
      destructive: Type.Boolean(),
      reads: Type.Boolean({ description: "it changes nothing, so that a token with `read` may call it" }),
    }),
  ),
});
export type BlockView = Static<typeof BlockView>;

export const listDatabases = planeEndpoint({
  method: "GET",
  path: "/api/pat/v1/databases",
  scope: "read",
  summary: "Blocks of plugins, such as databases, with the commands that can be called on each",
  data: Type.Object({ blocks: Type.Array(BlockView) }),
});

const Answer = Type.Object({
  ...DispatchResult.properties,
  output: Type.Optional(Type.String({ description: "what the plugin said, secrets masked" })),
});

export const askDatabase = planeEndpoint({
  method: "GET",
  path: "/api/pat/v1/databases/:kind/:scope/:name/:command",
  scope: "read",
  summary: "Call a command of a block's plugin that changes nothing: info, backups, backups:logs, get-conf",
  data: Answer,
});

export const commandDatabase = planeEndpoint({
  method: "POST",
  path: "/api/pat/v1/databases/:kind/:scope/:name/:command",
  scope: "actions",
  summary: "Call a command of a block's plugin: backup, restore, link; destructive ones need confirm",
  query: Type.Object({ confirm: Text("SCOPE/NAME once more, for destructive commands") }),
  body: Type.Object({ args: Type.Optional(Type.Array(Type.String())) }, { description: "may be left out" }),
  data: Answer,
});
