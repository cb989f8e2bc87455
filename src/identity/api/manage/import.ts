import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../../base/wire/endpoint.ts";
import { Flag, Text } from "../../../base/wire/query.ts";

/** What became of the lines of one request. */
export const ImportResult = Type.Object({
  lines: Type.Integer({ description: "read, blank ones and the end mark of an export left out" }),
  created: Type.Integer(),
  updated: Type.Integer(),
  skipped: Type.Integer({ description: "were there already" }),
  paired: Type.Integer({
    description:
      "of the skipped: lines without an id whose address is another form of a user's, which may be another person",
  }),
  failed: Type.Integer(),
  errors: Type.Array(
    Type.Object({ line: Type.Integer({ description: "1 is the first of this request" }), error: Type.String() }),
    { description: "the first ones" },
  ),
  pairs: Type.Array(
    Type.Object({
      line: Type.Integer(),
      email: Type.String({ description: "as the line writes it" }),
      user: Type.String({ description: "id of the user who has the mailbox" }),
    }),
    { description: "the first of `paired`" },
  ),
});
export type ImportResult = Static<typeof ImportResult>;

export const importIdentityUsers = endpoint({
  method: "POST",
  path: "/identity/import",
  summary:
    "Imports users, one JSON object per line. Invalid lines are reported and skipped. The same lines sent again change nothing: send large files in several requests",
  query: Type.Object({
    instance: Text("id of the instance (required)"),
    update: Flag("change users that are there already (default false: they are left as they are)"),
  }),
  body: Type.String({ description: "users, one JSON object in each line" }),
  bodyType: "application/x-ndjson",
  data: ImportResult,
});

export const exportIdentityUsers = endpoint({
  method: "GET",
  path: "/identity/export",
  summary: 'Users of an instance, one JSON object in each line, oldest first; the last line is {"end":true,"users":N}',
  query: Type.Object({
    instance: Text("id of the instance (required)"),
    secrets: Flag("with password hashes (default false)"),
  }),
  stream: "application/x-ndjson",
});
