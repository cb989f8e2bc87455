import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../../base/wire/endpoint.ts";
import { Shape } from "../../../base/wire/shape.ts";
import { Flag, Text } from "../../../base/wire/query.ts";

export const IdentityUser = Type.Object({
  /** UUID: the claim `sub`. */
  id: Type.String(),
  instance: Type.String(),
  email: Type.String(),
  name: Type.String(),
  avatar_url: Type.Union([Type.String(), Type.Null()]),
  email_verified: Type.Boolean(),
  /** The address was made by the service: it gets no mail and joins nothing. */
  placeholder: Type.Boolean(),
  providers: Type.Array(Type.String(), { description: "connected providers; password where it has one" }),
  banned_at: Type.Optional(Type.String()),
  created_at: Type.String(),
  updated_at: Type.String(),
});
export type IdentityUser = Static<typeof IdentityUser>;

const instance = Text("id of the instance (required where the user is named by address)");

export const page = {
  limit: Text("at most this many (default 50, at most 1000)"),
  cursor: Text("`next` of the page before"),
};

export const listIdentityUsers = endpoint({
  method: "GET",
  path: "/identity/users",
  summary: "Users of an instance, newest first, or those that a query of the search grammar finds",
  query: Type.Object({
    instance: Text("id of the instance (required)"),
    query: Text("search tokens such as email:*@shop.test created_at>2026-01-01"),
    strict: Flag("400 for tokens that are not understood (default true)"),
    ...page,
  }),
  data: Type.Object({ users: Type.Array(IdentityUser), next: Type.Optional(Type.String()) }),
});

export const listIdentityPairs = endpoint({
  method: "GET",
  path: "/identity/pairs",
  summary: "Users with one mailbox, whose domain earlier versions stored in two forms; nothing merges them",
  query: Type.Object({ instance: Text("id of the instance (default: all)") }),
  data: Type.Object({
    pairs: Type.Array(
      Type.Object({
        email: Type.String({ description: "the address that the service knows the mailbox by" }),
        holder: Type.Optional(IdentityUser),
        other: IdentityUser,
      }),
      { description: "sign-ins with the address lead to `holder`; no sign-in by address finds `other`" },
    ),
    more: Type.Boolean({ description: "there are others" }),
  }),
});

export const createIdentityUser = endpoint({
  method: "POST",
  path: "/identity/users",
  summary: "Makes a user; 409 where the address is taken",
  query: Type.Object({ instance: Text("id of the instance (required)") }),
  body: Shape(
    {
      email: Type.String({ maxLength: 320 }),
      name: Type.Optional(Type.String({ maxLength: 256, description: "default: the address before the @" })),
      avatar_url: Type.Optional(Type.String({ maxLength: 2048 })),
      password: Type.Optional(Type.String({ maxLength: 1024 })),
      email_verified: Type.Optional(Type.Boolean({ description: "the operator vouches for it (default true)" })),
    },
    "a new user",
  ),
  data: IdentityUser,
});

export const getIdentityUser = endpoint({
  method: "GET",
  path: "/identity/users/:user",
  summary: "One user by id, or by address inside an instance",
  query: Type.Object({ instance }),
  data: IdentityUser,
});

export const banIdentityUser = endpoint({
  method: "POST",
  path: "/identity/users/:user/ban",
  summary: "Locks a user out and ends all sessions at once",
  query: Type.Object({ instance }),
  data: Type.Composite([IdentityUser, Type.Object({ sessions_revoked: Type.Integer() })]),
});

export const unbanIdentityUser = endpoint({
  method: "POST",
  path: "/identity/users/:user/unban",
  summary: "Lets a banned user in again",
  query: Type.Object({ instance }),
  data: IdentityUser,
});

export const verifyIdentityUser = endpoint({
  method: "POST",
  path: "/identity/users/:user/verify",
  summary:
    "Counts the address of a user as proven: the caller vouches that the user owns it. 409 for an address that the service made",
  query: Type.Object({ instance }),
  data: IdentityUser,
});

export const setIdentityPassword = endpoint({
  method: "POST",
  path: "/identity/users/:user/password",
  summary: "Sets a password and ends all sessions; without one it takes the password away",
  query: Type.Object({ instance }),
  body: Shape({ password: Type.Optional(Type.String({ maxLength: 1024 })) }, "the new password"),
  data: Type.Composite([IdentityUser, Type.Object({ sessions_revoked: Type.Integer() })]),
});

export const deleteIdentityUser = endpoint({
  method: "DELETE",
  path: "/identity/users/:user",
  summary: "Deletes a user with identities and sessions; irreversible",
  query: Type.Object({ instance }),
  data: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
});
