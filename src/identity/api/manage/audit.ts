import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../../base/wire/endpoint.ts";
import { Flag, Text } from "../../../base/wire/query.ts";
import { page } from "./users.ts";

export const IdentityAuditEntry = Type.Object({
  id: Type.String(),
  at: Type.String(),
  actor: Type.String({ description: "user, api:<key id>, operator, service or what the caller says" }),
  action: Type.String({ description: "signin.ok, session.revoke, key.rotate, …" }),
  user_id: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  session_id: Type.Optional(Type.String()),
  provider: Type.Optional(Type.String()),
  ip_address: Type.Optional(Type.String()),
  detail: Type.Record(Type.String(), Type.Unknown()),
});
export type IdentityAuditEntry = Static<typeof IdentityAuditEntry>;

export const listIdentityAudit = endpoint({
  method: "GET",
  path: "/identity/audit",
  summary: "Who did what in an instance, newest first, or what a query of the search grammar finds",
  query: Type.Object({
    instance: Text("id of the instance (or global=true)"),
    global: Flag("what belongs to no single instance: apps, deleted instances, global providers (default false)"),
    query: Text("search tokens such as action:signin.* ip_address:10.0.*"),
    strict: Flag("400 for tokens that are not understood (default true)"),
    ...page,
  }),
  data: Type.Object({ entries: Type.Array(IdentityAuditEntry), next: Type.Optional(Type.String()) }),
});
