import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag, Text } from "../../base/wire/query.ts";

export const execPlugin = endpoint({
  method: "POST",
  path: "/plugins/exec",
  summary: "Runs a plugin and passes on what it prints; its actions are not carried out (legacy, see /plugin/…)",
  body: Type.Object({
    args: Type.Array(Type.String(), { description: "plugin, command, and its arguments" }),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
  }),
  data: Type.Unknown({ description: "the plugin's own envelope, or `stdout` with its text" }),
});

/** The result of a plugin's command (docs/contract/orchestration.md, 4.11). */
export const DispatchResult = Type.Object({
  message: Type.String(),
  applied: Type.Array(Type.String()),
  exec_local: Type.Array(Type.Object({ command: Type.Array(Type.String()) })),
  fetch_file: Type.Array(
    Type.Object({ remote_path: Type.String(), dest_path: Type.String(), size_bytes: Type.Optional(Type.Integer()) }),
  ),
  run_id: Type.String({ description: "of this run among GET /plugins/runs" }),
  warnings: Type.Optional(Type.Array(Type.String())),
});
export type DispatchResult = Static<typeof DispatchResult>;

export const dispatchPlugin = endpoint({
  method: "POST",
  path: "/plugin/:name/:command",
  summary: "Runs a command of a plugin and carries its actions out. Accept: application/x-ndjson streams progress",
  query: Type.Object({ restart: Flag("let config actions restart who reads them (default true)") }),
  body: Type.Object({ args: Type.Optional(Type.Array(Type.String())) }, { description: "may be left out" }),
  data: DispatchResult,
});

/** Set for callers that are pods: `scope/name`, with commas between, of the blocks that are their business. */
export const onlyHeader = "X-Berth-Only";

export const fetchPluginFile = endpoint({
  method: "GET",
  path: "/plugins/runs/:id/files/:index",
  summary: "A file that a run told its caller to fetch, by its place in fetch_file, counted from 0",
  stream: "application/octet-stream",
});

/** Header with its size in bytes. Like the header of the actor, its name does not follow the server's prefix, which a client does not know. */
export const fileSizeHeader = "X-Berth-Size";

/** One run of a plugin. */
export const PluginRun = Type.Object({
  run_id: Type.String(),
  plugin: Type.String(),
  version: Type.String(),
  command: Type.String(),
  args: Type.Array(Type.String()),
  actor: Type.String(),
  status: Type.Union([
    Type.Literal("running"),
    Type.Literal("succeeded"),
    Type.Literal("failed"),
    Type.Literal("timed_out"),
    Type.Literal("cancelled"),
    Type.Literal("interrupted"),
  ]),
  started_at: Type.String(),
  ended_at: Type.Optional(Type.String()),
  exit_code: Type.Optional(Type.Integer()),
  error: Type.Optional(Type.String()),
  applied: Type.Array(Type.String()),
  tail: Type.Array(Type.String(), { description: "last lines of its standard error" }),
});
export type PluginRun = Static<typeof PluginRun>;

export const listPluginRuns = endpoint({
  method: "GET",
  path: "/plugins/runs",
  scope: "read",
  summary: "Runs of plugins, newest first",
  query: Type.Object({ plugin: Text("only of this plugin"), limit: Text("at most this many (100)") }),
  data: Type.Object({ runs: Type.Array(PluginRun) }),
});
