import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { DispatchResult, listPluginRuns } from "../../orchestration/api/dispatch.ts";
import {
  AcceptBody,
  acceptPlugin,
  disablePlugin,
  enablePlugin,
  InstallBody,
  installPlugin,
  listPlugins,
  pluginChanges,
  removePlugin,
  rollbackPlugin,
  UpdateBody,
  updatePlugin,
} from "../../orchestration/api/plugins.ts";
import { getPluginConfig, PluginConfigBody, setPluginConfig } from "../../orchestration/api/plugin-config.ts";
import { appStates } from "./app-model.ts";
import { Operation } from "./operations.ts";
import { aliasOf, type PlaneEndpoint, planeEndpoint } from "./plane-endpoint.ts";
import { OneOf } from "../../base/wire/shape.ts";

const seenFirst = "Without preview the body needs expect, the digest of the preview that was looked at";
const closed = { additionalProperties: false };

/** What tokens do with plugins; each is an endpoint of operators. */
const managed: PlaneEndpoint[] = [
  listPlugins,
  listPluginRuns,
  aliasOf(installPlugin, {
    summary: `Install a plugin; with preview the grant that it asks for, and nothing is changed. ${seenFirst}`,
    body: Type.Omit(InstallBody, ["link"], closed),
  }),
  aliasOf(updatePlugin, {
    summary: `Install a plugin again from its source. ${seenFirst}`,
    body: Type.Object({ ...UpdateBody.properties }, closed),
  }),
  rollbackPlugin,
  pluginChanges,
  aliasOf(acceptPlugin, { body: Type.Object({ ...AcceptBody.properties }, closed) }),
  getPluginConfig,
  aliasOf(setPluginConfig, { body: Type.Object({ ...PluginConfigBody.properties }, closed) }),
  enablePlugin,
  disablePlugin,
  removePlugin,
];

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
  ...managed,
  ...[listDatabases, askDatabase, commandDatabase, revealDatabase],
];
