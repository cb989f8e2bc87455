import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";
import { OneOf, Shape } from "../../base/wire/shape.ts";

/** `missing`: a volume that the engine does not have comes back under its own name. */
const restoreWays = ["in_place", "beside", "into", "missing"] as const;
export type RestoreWay = (typeof restoreWays)[number];

export const RestoreBody = Shape({
  scope: Type.Optional(Type.String({ maxLength: 100, description: "only volumes of this scope" })),
  name: Type.Optional(Type.String({ maxLength: 100, description: "only those of this app" })),
  volume: Type.Optional(
    Type.String({ maxLength: 300, description: "only this claim or volume; CLAIM/ORDINAL for one of several" }),
  ),
  from: Type.Optional(Type.String({ maxLength: 100, description: "only copies at this target" })),
  at: Type.Optional(
    Type.String({ maxLength: 40, description: "the newest copies of this time or before, ISO 8601 with its zone" }),
  ),
  snapshot: Type.Optional(Type.String({ maxLength: 64, description: "id of one copy, or its beginning" })),
  way: Type.Optional(OneOf(restoreWays, "where the data goes; left out: back to where the volume is missing")),
  into: Type.Optional(Type.String({ maxLength: 4_000, description: "of into: a folder of the server, new or empty" })),
  path: Type.Optional(
    Type.String({ maxLength: 4_000, description: "only this file or folder of the volume, with in_place or into" }),
  ),
});
export type RestoreBody = Static<typeof RestoreBody>;

const restoredVolume = {
  what: Type.String({ description: "scope/name/volume, with /ordinal behind it for a claim" }),
  way: OneOf(restoreWays, "where the data goes"),
  volume: Type.Optional(Type.String({ description: "the volume that has the data afterwards, by its engine name" })),
  mount: Type.Optional(Type.String({ description: "of beside: the name by which manifests of the scope mount it" })),
  into: Type.Optional(Type.String()),
  path: Type.Optional(Type.String()),
  target: Type.String(),
  snapshot: Type.String(),
  at: Type.String({ description: "when the copy was made" }),
  bytes: Type.Integer({ description: "size of what is restored" }),
  fill: Type.Optional(
    Type.String({
      description: "of a database that its pod fills: the id of the backup, or WAL for base backup and WAL",
    }),
  ),
};

/** What a restore would do to one volume. */
const PlannedRestore = Type.Object({
  ...restoredVolume,
  replaces: Type.Boolean({ description: "data that is there now is replaced, and kept for a while" }),
  note: Type.Optional(Type.String({ description: "what it does not bring back" })),
});
export type PlannedRestore = Static<typeof PlannedRestore>;

/** What the server restores, or has restored, of one volume. */
export const Restore = Type.Object({
  ...restoredVolume,
  id: Type.String(),
  group: Type.String({ description: "the same for all volumes of one request" }),
  state: OneOf(["waiting", "fetching", "placing", "done", "failed", "undoing", "undone"], "how far it is"),
  bytes_fetched: Type.Optional(
    Type.Integer({ description: "while it is fetching: how many of `bytes` are there, counted now and then" }),
  ),
  started_at: Type.String(),
  ended_at: Type.Optional(Type.String()),
  error: Type.Optional(Type.String({ description: "why it failed; what was there is unchanged" })),
  kept_until: Type.Optional(
    Type.String({ description: "until when what was replaced is kept: berth backup restore --undo brings it back" }),
  ),
});
export type Restore = Static<typeof Restore>;

const restoresPath = "/backups/restores";

export const planRestore = endpoint({
  method: "POST",
  path: `${restoresPath}/plan`,
  scope: "admin",
  plans: true,
  summary: "What a restore would do: from which copies, how large, and what it replaces; changes nothing",
  body: RestoreBody,
  data: Type.Object({
    volumes: Type.Array(PlannedRestore),
    at: Type.String({ description: "as the `at` of the restore, it means the same copies" }),
    seconds: Type.Optional(
      Type.Integer({
        description: "how long it takes, as restores and drills from there took; absent where none was of that size",
      }),
    ),
    uncopied: Type.Optional(
      Type.Array(Type.String(), { description: "volumes that are missing, and that no target has a copy of" }),
    ),
    unreachable: Type.Array(Type.Object({ target: Type.String(), why: Type.String() })),
  }),
});

export const beginRestore = endpoint({
  method: "POST",
  path: restoresPath,
  scope: "admin",
  summary: "Begin to restore volumes from their copies; each has a row with this group among the restores",
  body: RestoreBody,
  data: Type.Object({ group: Type.String(), restores: Type.Array(Restore) }),
});

export const listRestores = endpoint({
  method: "GET",
  path: restoresPath,
  scope: "host:read",
  summary: "Restores under way and ended, newest first",
  query: Type.Object({ group: Text("only of this request") }),
  data: Type.Object({ restores: Type.Array(Restore) }),
});

export const undoRestore = endpoint({
  method: "POST",
  path: `${restoresPath}/undo`,
  scope: "admin",
  summary: "Bring back what the newest restore in place of an app replaced; what was written since is put aside",
  body: Shape({
    scope: Type.String({ maxLength: 100 }),
    name: Type.String({ maxLength: 100 }),
    volume: Type.Optional(Type.String({ maxLength: 300, description: "only this claim or volume" })),
  }),
  data: Type.Object({ group: Type.String(), restores: Type.Array(Restore) }),
});

export const restoreEndpoints = [planRestore, beginRestore, listRestores, undoRestore];
