import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../../base/wire/endpoint.ts";
import { Flag, Text } from "../../../base/wire/query.ts";
import { page } from "./users.ts";

export const IdentitySession = Type.Object({
  /** `svc_session_<uuid>` unless the instance says otherwise. */
  session_id: Type.String(),
  user_id: Type.String(),
  provider: Type.String(),
  name: Type.String(),
  email: Type.String(),
  ip_address: Type.String(),
  user_agent: Type.String(),
  logged_in_at: Type.String(),
  last_signin_at: Type.String(),
  active: Type.Boolean(),
  expires_at: Type.Optional(Type.String()),
  revoked_at: Type.Optional(Type.String()),
  revoke_reason: Type.Optional(Type.String()),
});
export type IdentitySession = Static<typeof IdentitySession>;

export const listIdentitySessions = endpoint({
  method: "GET",
  path: "/identity/sessions",
  summary: "Sessions of an instance, by most recent sign-in, or those that a query finds, or the active ones of a user",
  query: Type.Object({
    instance: Text("id of the instance (required)"),
    user: Text("id or address of a user: its active sessions"),
    query: Text("search tokens such as provider:github ip_address:10.0.*"),
    strict: Flag("400 for tokens that are not understood (default true)"),
    ...page,
  }),
  data: Type.Object({ sessions: Type.Array(IdentitySession), next: Type.Optional(Type.String()) }),
});

export const revokeIdentitySession = endpoint({
  method: "POST",
  path: "/identity/sessions/:session/revoke",
  summary: "Ends a session; 409 where it has ended already",
  query: Type.Object({ instance: Text("id of the instance (required)") }),
  data: IdentitySession,
});
