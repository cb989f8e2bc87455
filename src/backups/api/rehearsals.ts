import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { OneOf } from "../../base/wire/shape.ts";

const rehearsalResults = ["passed", "started", "failed", "not_rehearsed"] as const;

/** How one app did. Times are ISO 8601. */
const RehearsedApp = Type.Object({
  app: Type.String({ description: "scope/name" }),
  kind: Type.String(),
  beside: Type.Boolean({ description: "not of the files: a protected app of the same scope, as it is stored" }),
  result: OneOf(
    rehearsalResults,
    "passed: its release command and its own checks; started: it ran, and has no check; not_rehearsed: `why` it cannot be tried",
  ),
  why: Type.Optional(Type.String({ description: "of failed and not_rehearsed" })),
  release: Type.Optional(
    Type.Object(
      {
        exit_code: Type.Optional(Type.Integer({ description: "absent: it did not end in time" })),
        output: Type.String({ description: "its last lines" }),
      },
      { description: "how its release command ended" },
    ),
  ),
  seconds: Type.Optional(Type.Number({ description: "until it was ready, its release command included" })),
  copy_at: Type.Optional(Type.String({ description: "when the oldest copy of its data was made" })),
  data_age_seconds: Type.Optional(Type.Integer({ description: "age of that copy when the rehearsal began" })),
  empty: Type.Optional(
    Type.Array(Type.String(), { description: "volumes of which there is no copy: they were empty" }),
  ),
});
export type RehearsedApp = Static<typeof RehearsedApp>;

const LeftOut = Type.Object({ ref: Type.String({ description: "kind/scope/name" }), why: Type.String() });

const Rehearsal = Type.Object({
  id: Type.String(),
  actor: Type.String(),
  started_at: Type.String(),
  ended_at: Type.Optional(Type.String({ description: "absent: it is under way" })),
  apps: Type.Array(RehearsedApp, { description: "those that have ended" }),
  left_out: Type.Array(LeftOut, { description: "what the files have and is not rehearsed" }),
});
export type Rehearsal = Static<typeof Rehearsal>;

const rehearsalsPath = "/rehearsals";

export const beginRehearsal = endpoint({
  method: "POST",
  path: rehearsalsPath,
  scope: "admin",
  summary:
    "Begin to try manifests on copies of the apps and their data, in a place without a way out: release commands, start, checks. Nothing is stored",
  /** As of an apply. */
  body: Type.Unknown(),
  data: Type.Object({ id: Type.String(), apps: Type.Array(Type.String()), left_out: Type.Array(LeftOut) }),
});

export const listRehearsals = endpoint({
  method: "GET",
  path: rehearsalsPath,
  scope: "admin",
  summary: "The last rehearsals since the server started, newest first",
  data: Type.Object({ rehearsals: Type.Array(Rehearsal) }),
});

export const rehearsalEndpoints = [beginRehearsal, listRehearsals];
