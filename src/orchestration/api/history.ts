import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag, Text } from "../../base/wire/query.ts";
import { ApplyResult } from "./apply.ts";
import { Manifest } from "./manifest.ts";
import { Message, NoBackup } from "./releases.ts";

/** Why another state was wanted. `begin`: it was wanted already when the history began. */
const causes = ["apply", "scale", "rollback", "asset", "delete", "restore", "begin"] as const;

/** A change of what is wanted: never a config value, and no spec. */
export const HistoryChange = Type.Object({
  seq: Type.Integer(),
  at: Type.String(),
  kind: Type.String(),
  scope: Type.Optional(Type.String()),
  name: Type.String(),
  revision: Type.Optional(Type.Integer({ description: "absent after a delete" })),
  actor_name: Type.Optional(Type.String({ description: "of a token: its name" })),
  actor: Type.String({ description: "who: operator, pat:ID, person:ADDRESS, a plugin, or the reconciler" }),
  cause: Type.Union(causes.map((cause) => Type.Literal(cause))),
  outcome: Type.Union([Type.Literal("created"), Type.Literal("changed"), Type.Literal("deleted")]),
  changed: Type.Optional(Type.Array(Type.String(), { description: "dotted paths of changed fields" })),
  why: Type.Optional(Type.String({ description: "the message, or the reason of the server" })),
});
export type HistoryChange = Static<typeof HistoryChange>;

const Begins = Type.Optional(
  Type.String({ description: "the first time that the history knows; absent before the first change" }),
);
const At = Text("a time in ISO 8601 with its zone (required)");

export const listHistory = endpoint({
  method: "GET",
  path: "/history",
  scope: "read",
  summary: "Every state that was wanted: what was changed, when, by whom and why, newest first",
  query: Type.Object({
    kind: Text("kind, any spelling"),
    scope: Text("exact scope"),
    name: Text("exact name"),
    before: Text("only changes before the one with this number"),
    limit: Text("at most this many (default 100, at most 1000)"),
  }),
  data: Type.Object({ begins: Begins, changes: Type.Array(HistoryChange) }),
});

export const historyState = endpoint({
  method: "GET",
  path: "/history/state",
  scope: "read",
  summary: "The manifests as they were wanted at a time, blocks of plugins included; secrets are masked",
  query: Type.Object({ at: At, scope: Text("exact scope"), name: Text("exact name") }),
  data: Type.Object({
    at: Type.String(),
    begins: Type.String(),
    manifests: Type.Array(Manifest),
  }),
});

export const restoreHistory = endpoint({
  method: "POST",
  path: "/history/restore",
  scope: "admin",
  once: true,
  summary:
    "Apply the manifests as they were wanted at a time, and delete what was not wanted then; whole or not at all",
  query: Type.Object({
    at: At,
    scope: Text("only this scope"),
    name: Text("only what has this name in the scope"),
    dry_run: Flag("answer with the plan and write nothing (default false)"),
    expect: Text("`newest` of the plan: refused if anything was changed since"),
    no_backup: NoBackup,
    message: Message,
  }),
  data: Type.Composite([
    ApplyResult,
    Type.Object({
      at: Type.String(),
      newest: Type.Integer({ description: "the number of the newest change that the answer knows" }),
    }),
  ]),
});
