import { type Static, Type } from "@sinclair/typebox";
import { OneOf, Shape, Words } from "../../base/wire/shape.ts";

/** Providers that docs/contract/identity.md, 1.3 names; their callback paths are `/oauth/<name>/callback`. */
export const builtInProviders = ["google", "github", "twitter"] as const;
export type BuiltInProvider = (typeof builtInProviders)[number];

const Address = (description: string) => Type.Optional(Type.String({ maxLength: 2048, description }));
const Flag = (description: string) => Type.Optional(Type.Boolean({ description }));

/** What an operator may set beside the credentials; what is left out stands at the provider's own default. */
export const ProviderOptions = Shape(
  {
    authorize_url: Address("authorization endpoint"),
    token_url: Address("token endpoint"),
    userinfo_url: Address("profile endpoint"),
    emails_url: Address("listing of a person's addresses; github only"),
    issuer: Address("of an oidc connection: its discovery document says the endpoints"),
    scopes: Type.Optional(Words("requested scopes")),
    pkce: Flag("send a PKCE challenge (default true)"),
    trusted: Flag("an oidc connection whose verified addresses may join users (default false)"),
    select_account: Flag("ask which account each time (default false)"),
    label: Type.Optional(Type.String({ maxLength: 64, description: "on the button of the hosted page" })),
  },
  "options of a provider",
);
export type ProviderOptions = Static<typeof ProviderOptions>;

export const ProviderKind = OneOf(
  ["google", "github", "twitter", "oidc"],
  "oidc is any OpenID Connect provider under a name of its own",
);
export type ProviderKind = Static<typeof ProviderKind>;
