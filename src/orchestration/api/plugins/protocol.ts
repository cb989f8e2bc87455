import { type Static, Type } from "@sinclair/typebox";
import { Manifest } from "../manifest.ts";
import { Action } from "./action.ts";

/** Standard input of `expand`: one JSON object, then the end of the input. */
export const ExpandInput = Type.Object({
  protocol: Type.Integer(),
  kind: Type.String({ description: "as the operator wrote it, perhaps an alias" }),
  scope: Type.String(),
  name: Type.String(),
  spec: Type.Record(Type.String(), Type.Unknown(), { description: "the block without `plugin`" }),
  config: Type.Record(Type.String(), Type.String(), { description: "scope level, overlaid by app level" }),
  /** Nothing will be stored: actions are only listed. */
  dry_run: Type.Boolean(),
  controller_url: Type.Optional(Type.String()),
  plugin_dir: Type.String(),
});
export type ExpandInput = Static<typeof ExpandInput>;

/** Standard input of every other command; operator's words are the arguments, as they are. */
export const DispatchInput = Type.Object({
  protocol: Type.Integer(),
  plugin: Type.String({ description: "as the caller wrote it, perhaps an alias" }),
  command: Type.String(),
  controller_url: Type.Optional(Type.String()),
  plugin_dir: Type.String(),
  node_name: Type.String(),
});
export type DispatchInput = Static<typeof DispatchInput>;

/** Standard input of the command that `attend` in plugin.yml names; its one argument is SCOPE/NAME. */
export const AttendInput = Type.Composite([
  DispatchInput,
  Type.Object({
    reason: Type.Union([Type.Literal("start"), Type.Literal("interrupted"), Type.Literal("unready")], {
      description: "the server has started, an exclusive command was cut off, or pods are not ready",
    }),
    block: Type.Object({
      kind: Type.String(),
      scope: Type.String(),
      name: Type.String(),
      spec: Type.Record(Type.String(), Type.Unknown()),
    }),
    unready: Type.Array(Type.Object({ pod: Type.String(), ms: Type.Integer() }), {
      description: "pods of the block that are not ready and were not stopped on purpose, and since when",
    }),
  }),
]);
export type AttendInput = Static<typeof AttendInput>;

/** `data` of `expand`: one of three shapes. */
export const ExpandData = Type.Union([
  Type.Array(Manifest),
  Manifest,
  Type.Object({
    manifests: Type.Array(Manifest),
    actions: Type.Optional(Type.Union([Type.Array(Action), Type.Null()])),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: "what the operator should know; apply shows it" }),
    ),
  }),
]);
export type ExpandData = Static<typeof ExpandData>;

/**
 * One line of the answer to a command that was asked with `Accept: application/x-ndjson`: what the plugin says on its
 * standard error while it works, then exactly one `result`, whose envelope is what would have been the whole answer.
 */
export const ProgressLine = Type.Union([
  Type.Object({ type: Type.Literal("progress"), text: Type.String() }),
  Type.Object({
    type: Type.Literal("result"),
    code: Type.Integer({ description: "the status of the answer without progress" }),
    status: Type.Union([Type.Literal("ok"), Type.Literal("error")]),
    data: Type.Optional(Type.Unknown()),
    error: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    problems: Type.Optional(Type.Array(Type.Unknown())),
  }),
]);
export type ProgressLine = Static<typeof ProgressLine>;

export const progressMediaType = "application/x-ndjson";
