import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";
import { Shape } from "../../base/wire/shape.ts";

const Of = { scope: Text("scope of the database"), name: Text("name of the database") };

export const DatabasePoints = Type.Object({
  target: Type.String(),
  ranges: Type.Array(Type.Object({ from: Type.String(), to: Type.String() }), {
    description: "times that can be restored, oldest first; between them are gaps",
  }),
  bases: Type.Array(Type.String(), { description: "when base backups ended, oldest first" }),
  shipped_at: Type.Optional(Type.String({ description: "when WAL was shipped last; absent since the server's start" })),
  error: Type.Optional(Type.String({ description: "why WAL does not reach the target now" })),
});
export type DatabasePoints = Static<typeof DatabasePoints>;

/** What a restore to a point in time takes. */
export const DatabaseRestore = Type.Object({
  target: Type.String(),
  at: Type.Optional(Type.String({ description: "the time; absent for everything that is there" })),
  base: Type.String({ description: "end of the base backup that it begins with" }),
  segments: Type.Integer({ description: "segments of WAL that are replayed" }),
  version: Type.String({ description: "of PostgreSQL, when the base backup was made" }),
  image: Type.String({ description: "what the pods ran then" }),
  image_id: Type.String({ description: "what the engine made of it" }),
});
export type DatabaseRestore = Static<typeof DatabaseRestore>;

export const databasePoints = endpoint({
  method: "GET",
  path: "/backups/databases",
  summary: "Times that a database with point_in_time can be restored to, as the target lists them now",
  query: Type.Object(Of),
  data: DatabasePoints,
});

export const planDatabaseRestore = endpoint({
  method: "GET",
  path: "/backups/databases/plan",
  summary: "What a restore of a database to a time takes; 409 with the range for a time outside of it",
  query: Type.Object({ ...Of, at: Text("ISO 8601 with a zone; default: everything that is there") }),
  data: DatabaseRestore,
});

export const RestoreDatabaseBody = Shape({
  at: Type.Optional(
    Type.String({ maxLength: 50, description: "ISO 8601 with a zone; default: everything that is there" }),
  ),
});

export const bringDatabase = endpoint({
  method: "POST",
  path: "/backups/databases/restores",
  summary: "Begin to bring a database of a time into the volume of a new block, which waits for it",
  query: Type.Object({ ...Of, into: Text("SCOPE/NAME of a new block whose pod waits for it") }),
  body: RestoreDatabaseBody,
  data: DatabaseRestore,
});

export const databaseEndpoints = [databasePoints, planDatabaseRestore, bringDatabase];
