import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../../base/wire/endpoint.ts";
import { ProviderKind, ProviderOptions } from "../providers.ts";
import { Shape } from "../../../base/wire/shape.ts";
import { Flag, Text } from "../../../base/wire/query.ts";

/** A provider as it is set; the client secret is never shown. */
export const IdentityProvider = Type.Object({
  name: Type.String(),
  kind: ProviderKind,
  instance: Type.Union([Type.String(), Type.Null()], { description: "null: for every instance" }),
  enabled: Type.Boolean(),
  /** Absent: the global credentials are used. */
  client_id: Type.Optional(Type.String()),
  has_secret: Type.Boolean(),
  options: ProviderOptions,
  callback_url: Type.String({ description: "what to enter at the provider as redirect address" }),
  created_at: Type.String(),
  updated_at: Type.String(),
});
export type IdentityProvider = Static<typeof IdentityProvider>;

const where = {
  instance: Text("id of the instance (or global=true)"),
  global: Flag("for every instance without credentials of its own (default false)"),
};

export const listIdentityProviders = endpoint({
  method: "GET",
  path: "/identity/providers",
  summary: "Providers that an instance has settings for, and those it may use from the global ones",
  query: Type.Object(where),
  data: Type.Object({
    providers: Type.Array(IdentityProvider),
    offered: Type.Array(Type.String(), { description: "what its sign-in page offers" }),
  }),
});

export const putIdentityProvider = endpoint({
  method: "PUT",
  path: "/identity/providers/:name",
  summary: "Sets credentials and options of a provider; what is left out stays",
  query: Type.Object(where),
  body: Shape(
    {
      kind: Type.Optional(ProviderKind),
      enabled: Type.Optional(Type.Boolean()),
      client_id: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
      client_secret: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: "kept sealed" })),
      options: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: "options to change; null puts one back to its default",
        }),
      ),
    },
    "google, github, twitter, or an oidc connection under a name of its own",
  ),
  data: IdentityProvider,
});

export const deleteIdentityProvider = endpoint({
  method: "DELETE",
  path: "/identity/providers/:name",
  summary: "Forgets settings and credentials of a provider; its users stay",
  query: Type.Object(where),
  data: Type.Object({ name: Type.String(), deleted: Type.Literal(true) }),
});
