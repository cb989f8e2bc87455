import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag, Text } from "../../base/wire/query.ts";
import { PruneSummary } from "./apply.ts";

/** The answer differs with `ordinal`: a rebootstrap reports `ordinal`, `action` and `summary`. */
const DeleteResourceResult = Type.Object({
  scope: Type.String(),
  name: Type.String(),
  resources_wiped: Type.Optional(Type.Array(Type.Object({ kind: Type.String(), pruned: PruneSummary }))),
  errors: Type.Optional(Type.Array(Type.String())),
  warnings: Type.Optional(Type.Array(Type.String())),
  ordinal: Type.Optional(Type.Integer()),
  action: Type.Optional(Type.Literal("rebootstrap")),
  summary: Type.Optional(
    Type.Object({
      container_removed: Type.Boolean(),
      volumes_removed: Type.Array(Type.String()),
      errors: Type.Array(Type.String()),
    }),
  ),
});

export const deleteResource = endpoint({
  method: "DELETE",
  path: "/resource",
  once: true,
  summary: "Delete every kind stored under (scope, name), or recreate one statefulset pod with `ordinal`",
  query: Type.Object({
    scope: Text("scope (required)"),
    name: Text("name (required)"),
    ordinal: Text("statefulset ordinal: only this pod is removed and made again"),
    prune: Flag("wipe config, files and volumes too (default false)"),
  }),
  data: DeleteResourceResult,
});

export const deleteScope = endpoint({
  method: "DELETE",
  path: "/scope",
  once: true,
  summary: "Delete every resource of a scope",
  query: Type.Object({
    scope: Text("scope (required)"),
    prune: Flag("wipe config, files and volumes too (default false)"),
  }),
  data: Type.Object({
    scope: Type.String(),
    resources_wiped: Type.Array(Type.Object({ kind: Type.String(), name: Type.String(), pruned: PruneSummary })),
    scope_config_wiped: Type.Boolean(),
    errors: Type.Array(Type.String()),
    warnings: Type.Optional(Type.Array(Type.String())),
  }),
});
