import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { DispatchResult, PluginRun } from "../../orchestration/api/dispatch.ts";
import {
  AcceptBody,
  InstallBody,
  InstallOutcome,
  PluginChanges,
  PluginInfo,
  UpdateBody,
} from "../../orchestration/api/plugins.ts";
import { PluginConfig, PluginConfigBody, PluginConfigChange } from "../../orchestration/api/plugin-config.ts";
import { appStates } from "./app-model.ts";
import { Operation } from "./operations.ts";
import { type PlaneEndpoint, planeEndpoint } from "./plane-endpoint.ts";
import { OneOf } from "../../base/wire/shape.ts";

export const listPlanePlugins = planeEndpoint({
  method: "GET",
  path: "/plugins",
  scope: "read",
  summary: "Plugins with their commands and grants; those that cannot be used are listed in errors",
  data: Type.Object({ plugins: Type.Array(PluginInfo), errors: Type.Array(Type.String()) }),
});

export const listPlanePluginRuns = planeEndpoint({
  method: "GET",
  path: "/plugins/runs",
  scope: "read",
  summary: "Runs of plugins, newest first",
  query: Type.Object({ plugin: Text("only of this plugin"), limit: Text("at most this many (100)") }),
  data: Type.Object({ runs: Type.Array(PluginRun) }),
});

const seenFirst = "Without preview the body needs expect, the digest of the preview that was looked at";

export const installPlanePlugin = planeEndpoint({
  method: "POST",
  path: "/plugins/install",
  scope: "admin",
  summary: `Install a plugin; with preview the grant that it asks for, and nothing is changed. ${seenFirst}`,
  body: Type.Omit(InstallBody, ["link"], { additionalProperties: false }),
  data: InstallOutcome,
});

export const updatePlanePlugin = planeEndpoint({
  method: "POST",
  path: "/plugins/:name/update",
  scope: "admin",
  summary: `Install a plugin again from its source. ${seenFirst}`,
  query: Type.Object({ version: Text("instead of the newest") }),
  body: Type.Object({ ...UpdateBody.properties }, { additionalProperties: false }),
  data: InstallOutcome,
});

const byName = (verb: string, summary: string) => ({
  method: "POST" as const,
  path: `/plugins/:name/${verb}`,
  scope: "admin" as const,
  summary,
  data: PluginInfo,
});

export const planePluginChanges = planeEndpoint({
  method: "GET",
  path: "/plugins/:name/changes",
  scope: "admin",
  summary: "What was changed in an installed plugin since it was locked",
  data: PluginChanges,
});

export const acceptPlanePlugin = planeEndpoint({
  method: "POST",
  path: "/plugins/:name/accept",
  scope: "admin",
  summary: "Take what was changed in an installed plugin; expect is the digest of the changes that were looked at",
  body: Type.Object({ ...AcceptBody.properties }, { additionalProperties: false }),
  data: PluginInfo,
});

export const planePluginConfig = planeEndpoint({
  method: "GET",
  path: "/plugins/:name/config",
  scope: "admin",
  summary: "The keys of the environment that was set for a plugin; values are masked",
  data: PluginConfig,
});

export const setPlanePluginConfig = planeEndpoint({
  method: "POST",
  path: "/plugins/:name/config",
  scope: "admin",
  summary: "Set environment for the hooks and commands of a plugin; an empty value unsets",
  body: Type.Object({ ...PluginConfigBody.properties }, { additionalProperties: false }),
  data: PluginConfigChange,
});

export const rollbackPlanePlugin = planeEndpoint(byName("rollback", "Return to the version before the last install"));
export const enablePlanePlugin = planeEndpoint(byName("enable", "Let a disabled plugin run again"));
export const disablePlanePlugin = planeEndpoint(byName("disable", "Keep a plugin but refuse to run it"));

export const removePlanePlugin = planeEndpoint({
  method: "DELETE",
  path: "/plugins/:name",
  scope: "admin",
  summary: "Remove a plugin; one that is not there is fine",
  data: Type.Object({ name: Type.String(), removed: Type.Boolean() }),
});

const BlockCommand = Type.Object({
  name: Type.String(),
  help: Type.Optional(Type.String()),
  destructive: Type.Boolean({ description: "it needs confirm" }),
  reads: Type.Boolean({ description: "it changes nothing, so that a token with read may call it" }),
  reveals: Type.Boolean({ description: "its answer can hold secrets, so that it needs config:reveal" }),
});

/** A block of a plugin, such as a database, and how what it became is. */
export const BlockView = Type.Object({
  plugin: Type.String(),
  kind: Type.String(),
  scope: Type.String(),
  name: Type.String(),
  version: Type.String({ description: "of the plugin that expanded it" }),
  state: OneOf(appStates, "the worst of what it was expanded into"),
  summary: Type.String({ description: "how it is, in a line" }),
  image: Type.String(),
  desired: Type.Integer({ description: "replicas that are wanted" }),
  ready: Type.Integer({ description: "replicas that are ready" }),
  children: Type.Array(Type.String(), { description: "kind/scope/name" }),
  commands: Type.Array(BlockCommand, { description: "those that a token can call" }),
});
export type BlockView = Static<typeof BlockView>;

export const listDatabases = planeEndpoint({
  method: "GET",
  path: "/databases",
  scope: "read",
  summary: "Blocks of plugins, such as databases, with the commands that can be called on each",
  data: Type.Object({ blocks: Type.Array(BlockView) }),
});

const Args = Type.Object({
  args: Type.Optional(Type.Array(Type.String(), { description: "what follows SCOPE/NAME" })),
});

export const askDatabase = planeEndpoint({
  method: "GET",
  path: "/databases/:kind/:scope/:name/:command",
  scope: "read",
  summary: "Call a command of a block's plugin that changes nothing: info, backups, backups:logs, get-conf",
  query: Type.Object({ args: Text("what follows SCOPE/NAME, with spaces between: -o json") }),
  data: DispatchResult,
});

export const commandDatabase = planeEndpoint({
  method: "POST",
  path: "/databases/:kind/:scope/:name/:command",
  scope: "actions",
  summary: "Call a command of a block's plugin: backup, restore, link; destructive ones need confirm",
  query: Type.Object({ confirm: Text("SCOPE/NAME once more, for destructive commands") }),
  body: Args,
  data: Type.Object({ operation: Operation }),
  alsoAnswers: { 202: "Begun; follow the operation" },
});

export const revealDatabase = planeEndpoint({
  method: "POST",
  path: "/databases/:kind/:scope/:name/:command/reveal",
  scope: "config:reveal",
  summary:
    "Call a command whose answer can hold secrets, such as query; one that changes something needs actions as well",
  query: Type.Object({ confirm: Text("SCOPE/NAME once more, for destructive commands") }),
  body: Args,
  data: DispatchResult,
});

/** Plugins, their runs, and what can be done with their blocks. */
export const pluginEndpoints: PlaneEndpoint[] = [
  ...[listPlanePlugins, listPlanePluginRuns, installPlanePlugin, updatePlanePlugin, rollbackPlanePlugin],
  ...[planePluginChanges, acceptPlanePlugin, planePluginConfig, setPlanePluginConfig],
  ...[enablePlanePlugin, disablePlanePlugin, removePlanePlugin],
  ...[listDatabases, askDatabase, commandDatabase, revealDatabase],
];
