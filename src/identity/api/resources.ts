import { type TObject, type TProperties, type TString, Type } from "@sinclair/typebox";

const Time = (description: string) => Type.String({ format: "date-time", description });
const TimeOrNull = (description: string) =>
  Type.Union([Type.String({ format: "date-time" }), Type.Null()], { description });

/** `{id, resource, data}`, the shape of everything that the identity API shows (docs/contract/identity.md, 2.1). */
function Resource<P extends TProperties>(
  resource: string,
  data: TObject<P>,
): TObject<{ id: TString; resource: TString; data: TObject<P> }> {
  return Type.Object({
    id: Type.String({ description: "UUID, or the opaque id of an instance" }),
    resource: Type.String({ description: `always ${resource}` }),
    data,
  });
}

export const UserResource = Resource(
  "user",
  Type.Object({
    email: Type.String(),
    name: Type.String({ description: "display name" }),
    avatar_url: Type.Union([Type.String(), Type.Null()]),
    email_verified: Type.Boolean(),
    providers: Type.Array(Type.String(), { description: "connected providers" }),
    created_at: Time("creation"),
  }),
);

export const SessionResource = Resource(
  "session",
  Type.Object({
    session_id: Type.String({ description: "svc_session_<uuid>, unless the instance has another prefix" }),
    user_id: Type.String({ description: "UUID of its user" }),
    provider: Type.String({ description: "google, github, twitter, password, or the name of a connection" }),
    name: Type.String({ description: "at sign-in" }),
    email: Type.String({ description: "at sign-in" }),
    ip_address: Type.String(),
    geo_data: Type.Record(Type.String(), Type.Unknown(), { description: "empty without a source for it" }),
    logged_in_at: Time("first sign-in"),
    last_signin_at: Time("most recent sign-in"),
    revoked_at: TimeOrNull("when it was revoked; null while active"),
    active: Type.Boolean({ description: "not revoked" }),
  }),
);

export const TokenResource = Resource(
  "token",
  Type.Object({
    valid: Type.Boolean(),
    email: Type.String(),
    name: Type.String(),
    avatar_url: Type.String({ description: "empty where the user has none" }),
    provider: Type.String({ description: "google, github, twitter, email, or the name of a connection" }),
    session: Type.Optional(
      Type.Object({
        status: Type.String({ description: "active, revoked, expired or not_found" }),
        session_id: Type.String(),
        reason: Type.Optional(Type.String({ description: "of an expired one: lifetime or idle" })),
        revoked_at: Type.Optional(Type.String({ format: "date-time" })),
        logged_in_at: Type.Optional(Type.String({ format: "date-time" })),
        last_activity_at: Type.Optional(Type.String({ format: "date-time" })),
      }),
    ),
  }),
);

export const InstanceResource = Resource(
  "instance",
  Type.Object({
    publishable_key: Type.String(),
    url: Type.String({ description: "where browsers reach the instance" }),
    subdomain: Type.Union([Type.String(), Type.Null()]),
  }),
);
