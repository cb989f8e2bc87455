import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../../base/wire/endpoint.ts";
import { Text } from "../../../base/wire/query.ts";

/** A mail of the service. Its content is sealed at rest. */
export const IdentityMail = Type.Object({
  id: Type.String(),
  purpose: Type.String({ description: "verify_email, reset_password, …" }),
  state: Type.String({ description: "kept: no mail server is set; waiting, sent or failed" }),
  to: Type.String(),
  attempts: Type.Integer(),
  created_at: Type.String(),
  last_error: Type.Optional(Type.String()),
});
export type IdentityMail = Static<typeof IdentityMail>;

export const listIdentityMails = endpoint({
  method: "GET",
  path: "/identity/mails",
  summary: "Mails of an instance, newest first, without their content",
  query: Type.Object({
    instance: Text("id of the instance (required)"),
    limit: Text("at most this many (default 50, at most 1000)"),
  }),
  data: Type.Object({ mails: Type.Array(IdentityMail) }),
});

export const getIdentityMail = endpoint({
  method: "GET",
  path: "/identity/mails/:mail",
  summary: "One mail with its content: it may hold a link that signs somebody in",
  query: Type.Object({ instance: Text("id of the instance (required)") }),
  data: Type.Composite([IdentityMail, Type.Object({ subject: Type.String(), text: Type.String() })]),
});
