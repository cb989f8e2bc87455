import { type Static, Type } from "@sinclair/typebox";
import { Manifest } from "../manifest.ts";

/** Everything a plugin can ask for (docs/contract/orchestration.md, 4.11); any other type is rejected. */
export const actionTypes = [
  "config_set",
  "config_unset",
  "apply_manifest",
  "delete_manifest",
  "run_job",
  "exec_local",
  "fetch_file",
] as const;
export type ActionType = (typeof actionTypes)[number];

const target = { scope: Type.String(), name: Type.String() };
/** Replaces the label of the action in `applied`. */
const summary = { summary: Type.Optional(Type.String()) };
const kv = Type.Record(Type.String(), Type.String());

export const ConfigSet = Type.Object({
  type: Type.Literal("config_set"),
  ...target,
  kv: Type.Record(Type.String(), Type.String(), { description: "an empty value unsets" }),
  skip_restart: Type.Optional(Type.Boolean({ description: "leaves running replicas as they are" })),
  ...summary,
});
export const ConfigUnset = Type.Object({
  type: Type.Literal("config_unset"),
  ...target,
  keys: Type.Optional(Type.Array(Type.String())),
  kv: Type.Optional(kv),
  skip_restart: Type.Optional(Type.Boolean()),
  ...summary,
});
export const ApplyManifest = Type.Object({
  type: Type.Literal("apply_manifest"),
  manifest: Manifest,
  ...summary,
});
export const DeleteManifest = Type.Object({
  type: Type.Literal("delete_manifest"),
  kind: Type.String({ description: "any spelling" }),
  ...target,
  ...summary,
});
export const RunJobAction = Type.Object({ type: Type.Literal("run_job"), ...target, ...summary });
/** Never run by the server: the client runs it on the operator's terminal. */
export const ExecLocal = Type.Object({
  type: Type.Literal("exec_local"),
  command: Type.Array(Type.String(), { minItems: 1 }),
  ...summary,
});
/** Never done by the server: the client copies the file. */
export const FetchFile = Type.Object({
  type: Type.Literal("fetch_file"),
  remote_path: Type.String(),
  dest_path: Type.String(),
  size_bytes: Type.Optional(Type.Integer()),
  ...summary,
});

/** As plugins write it. */
export const Action = Type.Union([
  ConfigSet,
  ConfigUnset,
  ApplyManifest,
  DeleteManifest,
  RunJobAction,
  ExecLocal,
  FetchFile,
]);
export type Action = Static<typeof Action>;
