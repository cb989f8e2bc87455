import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { Event } from "../../orchestration/api/events.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

/** One row of the event log, and the same as a sentence. */
export const Activity = Type.Object({
  ...Event.properties,
  title: Type.String({ description: "what happened, for people" }),
  actor_name: Type.Optional(Type.String({ description: "of a token: its name" })),
});
export type Activity = Static<typeof Activity>;

const page = {
  limit: Text("at most this many (default 100, at most 1000)"),
  cursor: Text("`next` of the answer before: goes on to older rows"),
};

export const listActivity = planeEndpoint({
  method: "GET",
  path: "/events",
  scope: "read",
  summary: "The event log, newest first: who did what, deaths, releases, changes of config (keys, never values)",
  query: Type.Object({
    app: Text("SCOPE or SCOPE/NAME"),
    type: Text("beginning of the action, such as release or config"),
    actor: Text("beginning of the actor, such as pat: or cli"),
    since: Text("not older than this: RFC 3339, unix seconds, or a duration back such as 10m"),
    ...page,
  }),
  data: Type.Object({
    events: Type.Array(Activity),
    next: Type.Optional(Type.String({ description: "cursor of older rows; left out at the end" })),
  }),
});

/** One use of a token that changed something, or that was refused. */
export const AuditRow = Type.Object({
  id: Type.String(),
  at: Type.String(),
  actor: Type.String({ description: "pat:ID, person:ADDRESS, or system" }),
  actor_name: Type.Optional(Type.String()),
  ip: Type.Optional(Type.String()),
  action: Type.String(),
  kind: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "without secrets" })),
  outcome: Type.String({ description: "ok, or the error" }),
  status: Type.Optional(Type.Integer({ description: "of the HTTP answer" })),
  duration_ms: Type.Optional(Type.Integer()),
  request_id: Type.Optional(Type.String()),
});
export type AuditRow = Static<typeof AuditRow>;

export const listAudit = planeEndpoint({
  method: "GET",
  path: "/audit",
  scope: "admin",
  summary: "Uses of tokens that changed something or revealed a secret, newest first",
  query: Type.Object({
    token: Text("id of a token"),
    app: Text("SCOPE or SCOPE/NAME"),
    action: Text("beginning of the action"),
    since: Text("not older than this: RFC 3339, unix seconds, or a duration back such as 10m"),
    ...page,
  }),
  data: Type.Object({ rows: Type.Array(AuditRow), next: Type.Optional(Type.String()) }),
});
