import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";

/** A scope, or one app of it, that takes no changes. Times are ISO 8601. */
export const Lock = Type.Object({
  scope: Type.String(),
  name: Type.Optional(Type.String({ description: "absent: the whole scope is locked" })),
  reason: Type.String(),
  actor: Type.String({ description: "who locked it" }),
  since: Type.String(),
  until: Type.Optional(Type.String({ description: "when it ends by itself" })),
});
export type Lock = Static<typeof Lock>;

export const lock = endpoint({
  method: "POST",
  path: "/locks",
  once: true,
  summary: "Refuse changes of a scope or of one app of it until it is unlocked; 409 where it is locked already",
  query: Type.Object({
    scope: Text("scope (required)"),
    name: Text("app; without it the whole scope"),
    reason: Text("why, in a line: every refusal shows it (required, at most 500 characters)"),
    for: Text('how long, like "2h"; without it until it is unlocked'),
  }),
  data: Lock,
});

export const unlock = endpoint({
  method: "DELETE",
  path: "/locks",
  once: true,
  summary: "Take changes of a scope or of one app again; 404 where it is not locked",
  query: Type.Object({ scope: Text("scope (required)"), name: Text("app; without it the lock of the whole scope") }),
  data: Lock,
});

export const listLocks = endpoint({
  method: "GET",
  path: "/locks",
  summary: "Scopes and apps that are locked, ordered by scope and name",
  query: Type.Object({ scope: Text("only of this scope") }),
  data: Type.Object({ locks: Type.Array(Lock) }),
});
