import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../../base/wire/endpoint.ts";
import { Shape } from "../../../base/wire/shape.ts";

export const IdentityKey = Type.Object({
  /** `key_…`: the `kid` of tokens. */
  id: Type.String(),
  use: Type.String({ description: "secret: accepted by the API and signs tokens; api: accepted by the API alone" }),
  state: Type.String({
    description:
      "staged: accepted, does not sign yet; signing; previous: accepted until expires_at; active: an api key",
  }),
  prefix: Type.String({ description: "its first characters" }),
  created_at: Type.String(),
  expires_at: Type.Optional(Type.String()),
});
export type IdentityKey = Static<typeof IdentityKey>;

const Shown = Type.Object({
  secret_key: Type.String({ description: "the key itself: shown in this answer and never again" }),
});

export const listIdentityKeys = endpoint({
  method: "GET",
  path: "/identity/instances/:instance/keys",
  summary: "Keys of an instance, newest first, without their values",
  data: Type.Object({ publishable_key: Type.String(), keys: Type.Array(IdentityKey) }),
});

export const createIdentityKey = endpoint({
  method: "POST",
  path: "/identity/instances/:instance/keys",
  summary: "Makes a key that the API accepts and that never signs a token",
  data: Type.Composite([IdentityKey, Shown]),
});

export const rotateIdentityKey = endpoint({
  method: "POST",
  path: "/identity/instances/:instance/keys/rotate",
  summary: "First step of a rotation: a new secret key that is accepted but does not sign; 409 while one is staged",
  body: Shape(
    {
      now: Type.Optional(
        Type.Boolean({
          description: "after a leak: it signs at once and no other key stays, those for the API alone included",
        }),
      ),
    },
    "how to rotate",
  ),
  data: Type.Composite([
    IdentityKey,
    Shown,
    Type.Object({
      ended: Type.Optional(
        Type.Array(Type.Object({ id: Type.String(), use: Type.String() }), {
          description: "with now: keys that ended",
        }),
      ),
    }),
  ]),
});

export const promoteIdentityKey = endpoint({
  method: "POST",
  path: "/identity/instances/:instance/keys/promote",
  summary: "Second step: the staged key signs; the one before is accepted for a while longer; 409 where none is staged",
  body: Shape(
    { overlap: Type.Optional(Type.String({ description: "how long the one before is accepted", default: "24h" })) },
    "how to go over",
  ),
  data: Type.Object({ signing: IdentityKey, previous: Type.Optional(IdentityKey) }),
});

export const deleteIdentityKey = endpoint({
  method: "DELETE",
  path: "/identity/instances/:instance/keys/:key",
  summary: "Ends a key at once; 409 for the one that signs",
  data: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
});
