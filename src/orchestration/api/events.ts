import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";

/** Who did what, when, why: never a config value. */
export const Event = Type.Object({
  seq: Type.Integer(),
  at: Type.String(),
  actor: Type.String(),
  action: Type.String(),
  kind: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  revision: Type.Optional(Type.Integer()),
  detail: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type Event = Static<typeof Event>;

export const listEvents = endpoint({
  method: "GET",
  path: "/events",
  summary: "The event log, oldest first: the newest ones, or those after `after`",
  query: Type.Object({
    kind: Text("kind, any spelling"),
    scope: Text("exact scope"),
    name: Text("exact name"),
    after: Text("sequence number to continue from"),
    limit: Text("at most this many (default 100, at most 1000)"),
  }),
  data: Type.Object({ events: Type.Array(Event) }),
});
