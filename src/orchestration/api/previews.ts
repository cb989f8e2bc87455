import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";

/** A branch that runs in a scope of its own. Times are ISO 8601. */
export const Preview = Type.Object({
  scope: Type.String({ description: "where it runs" }),
  of: Type.String({ description: "the scope that it is a preview of" }),
  branch: Type.String(),
  host: Type.Optional(Type.String({ description: "where it is reached" })),
  since: Type.String({ description: "when it was deployed first" }),
  until: Type.String({ description: "when it is deleted" }),
});
export type Preview = Static<typeof Preview>;

export const putPreview = endpoint({
  method: "POST",
  path: "/previews",
  once: true,
  summary: "Set aside a scope for a branch, or let it live longer; 409 where the scope holds something else",
  query: Type.Object({
    of: Text("scope that it is a preview of (required)"),
    branch: Text("branch (required)"),
    host: Text("where it will be reached"),
    for: Text('how long it lives from now, like "3d" (required)'),
  }),
  data: Preview,
});

export const listPreviews = endpoint({
  method: "GET",
  path: "/previews",
  summary: "Previews of branches, ordered by scope",
  query: Type.Object({ of: Text("only of this scope") }),
  data: Type.Object({ previews: Type.Array(Preview) }),
});

export const deletePreview = endpoint({
  method: "DELETE",
  path: "/previews",
  once: true,
  summary: "Delete the scope of a preview with its config, files and volumes; 404 where there is none",
  query: Type.Object({ of: Text("scope that it is a preview of (required)"), branch: Text("branch (required)") }),
  data: Preview,
});
