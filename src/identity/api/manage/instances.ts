import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../../base/wire/endpoint.ts";
import { InstanceSettings } from "../settings.ts";
import { OneOf, Shape } from "../../../base/wire/shape.ts";
import { Text } from "../../../base/wire/query.ts";
import { AppName } from "./apps.ts";

const OrNull = <T extends ReturnType<typeof Type.String>>(value: T) => Type.Union([value, Type.Null()]);

/** A tenant: users, sessions, keys and providers of its own. */
export const IdentityInstance = Type.Object({
  /** `inst_…`: the claim `instance_id`. */
  id: Type.String(),
  app_id: Type.String(),
  app: Type.String({ description: "name of the app" }),
  name: Type.String(),
  environment: Type.String({ description: "production or development: keys begin with sk_live_ or sk_test_" }),
  host: OrNull(Type.String({ description: "its own host name" })),
  publishable_key: Type.String(),
  url: Type.String({ description: "where its pages are" }),
  sign_in_url: Type.String(),
  /** What differs from the defaults. */
  settings: InstanceSettings,
  created_at: Type.String(),
  updated_at: Type.String(),
});
export type IdentityInstance = Static<typeof IdentityInstance>;

const Host = Type.Union([Type.String({ maxLength: 253 }), Type.Null()], {
  description: "host name without port that leads here; null for none",
});
/** `null` puts a setting back to its default. */
const SettingsChange = Type.Record(Type.String(), Type.Unknown(), {
  description: "settings to change; null puts one back to its default",
});

export const listIdentityInstances = endpoint({
  method: "GET",
  path: "/identity/instances",
  summary: "Instances, oldest first",
  query: Type.Object({ app: Text("id or name of an app") }),
  data: Type.Object({ instances: Type.Array(IdentityInstance) }),
});

export const createIdentityInstance = endpoint({
  method: "POST",
  path: "/identity/instances",
  summary: "Makes an instance with its keys; the secret key is shown in this answer and never again",
  body: Shape(
    {
      app: Type.String({ description: "id or name of the app" }),
      name: Type.Optional(Type.String({ description: "default: the environment" })),
      environment: Type.Optional(OneOf(["production", "development"], "what its keys begin with", "production")),
      host: Type.Optional(Host),
      settings: Type.Optional(SettingsChange),
    },
    "a new instance",
  ),
  data: Type.Composite([IdentityInstance, Type.Object({ secret_key: Type.String() })]),
});

export const getIdentityInstance = endpoint({
  method: "GET",
  path: "/identity/instances/:instance",
  summary: "One instance by id",
  data: Type.Composite([
    IdentityInstance,
    Type.Object({ effective: InstanceSettings }, { description: "settings with every default filled in" }),
  ]),
});

export const updateIdentityInstance = endpoint({
  method: "PATCH",
  path: "/identity/instances/:instance",
  summary: "Changes name, host or settings; what is left out stays",
  body: Shape(
    { name: Type.Optional(Type.String()), host: Type.Optional(Host), settings: Type.Optional(SettingsChange) },
    "what to change",
  ),
  data: IdentityInstance,
});

export const deleteIdentityInstance = endpoint({
  method: "DELETE",
  path: "/identity/instances/:instance",
  summary: "Deletes an instance with its users, sessions and keys; irreversible",
  data: Type.Object({ id: Type.String(), deleted: Type.Literal(true), users: Type.Integer() }),
});

/** What an app needs to sign its users in. */
export const Quickstart = Type.Object({
  app_id: Type.String(),
  instance_id: Type.String(),
  /** Shown once. */
  secret_key: Type.String(),
  publishable_key: Type.String(),
  sign_in_url: Type.String({ description: "send browsers there; it carries the first redirect address" }),
  verify_url: Type.String({ description: "POST {token} with the header X-Service-Secret-Key" }),
});
export type Quickstart = Static<typeof Quickstart>;

export const identityQuickstart = endpoint({
  method: "POST",
  path: "/identity/quickstart",
  summary: "Makes an app and an instance that may send its users back to these addresses",
  body: Shape(
    {
      redirect_uris: Type.Array(Type.String(), {
        minItems: 1,
        maxItems: 100,
        description: "where browsers are sent with a token",
      }),
      app: Type.Optional(AppName),
      title: Type.Optional(Type.String({ maxLength: 64, description: "name on its pages and in its mails" })),
      environment: Type.Optional(
        OneOf(["production", "development"], "default: development where every address is on this machine"),
      ),
      host: Type.Optional(Host),
    },
    "the least that is needed",
  ),
  data: Quickstart,
});
