import { type Static, Type } from "@sinclair/typebox";
import { OneOf, Shape, Words } from "../../base/wire/shape.ts";

const Flag = (fallback: boolean, description: string) =>
  Type.Optional(Type.Boolean({ default: fallback, description }));

const Text = (fallback: string, description: string) =>
  Type.Optional(Type.String({ default: fallback, maxLength: 512, description }));

const Count = (description: string, options: { minimum: number; maximum: number; default: number }) =>
  Type.Optional(Type.Integer({ ...options, description }));

const CountOrNull = (description: string, maximum: number) =>
  Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum }), Type.Null()], { default: null, description }));

/** Largest `max_concurrent_sessions`; also sent where there is no limit, to clients whose types want a number. */
export const sessionsMax = 1_000;

/** Settings of an instance as they are written and stored; what is left out stands at its default. */
export const InstanceSettings = Shape(
  {
    redirect_uris: Type.Optional(
      Words("where browsers may be sent with a token: scheme, host, port and path must be equal"),
    ),
    redirect_query: Type.Optional(
      OneOf(
        ["known", "any", "exact"],
        "query of a redirect_uri beyond the listed one: known allows state and return_to, any allows all, exact none",
        "known",
      ),
    ),
    delivery: Type.Optional(
      OneOf(
        ["query", "code", "form_post"],
        "how the token reaches redirect_uri; code is used once within 60 s",
        "query",
      ),
    ),
    title: Text("", "name on the hosted pages; empty shows the app's name"),
    logo_url: Text("", "https address of a logo on the hosted pages"),
    accent: Text("", "colour of buttons on the hosted pages, such as #2f6fed"),
    language: Type.Optional(OneOf(["auto", "en", "de"], "of the hosted pages; auto follows the browser", "auto")),
    email_signin: Flag(true, "sign in with email"),
    email_signup: Flag(true, "sign up with email"),
    password_signin: Flag(true, "sign in with a password"),
    min_password_length: Count("of new passwords", { minimum: 8, maximum: 128, default: 8 }),
    block_subaddresses: Flag(false, "refuse addresses with + before the @"),
    linking: Type.Optional(
      OneOf(
        ["verified", "authoritative"],
        "when a provider's account joins a user with the same address: the provider has verified it, or is the one that hosts it",
        "verified",
      ),
    ),
    store_provider_tokens: Flag(true, "keep tokens of providers, sealed"),
    algorithm: Type.Optional(OneOf(["HS256", "RS256"], "of tokens; RS256 publishes its keys as JWKS", "HS256")),
    revoked_fails_verify: Flag(false, "verification refuses tokens of revoked sessions"),
    session_lifetime_hours: Count("until a session ends", { minimum: 1, maximum: 24 * 365, default: 720 }),
    session_idle_timeout_minutes: CountOrNull("without a refresh until a session ends; null for never", 525_600),
    single_session_per_device: Flag(false, "a sign-in on a device ends its earlier session"),
    max_concurrent_sessions: CountOrNull(
      "per user; a sign-in beyond it ends the oldest; null for any number. A new instance gets 100",
      sessionsMax,
    ),
    jwt_issuer: Text("service", "claim iss"),
    session_id_prefix: Text("svc_session_", "of new session ids"),
    refresh_token_prefix: Text("svc_rt_", "of new refresh tokens"),
    placeholder_domain: Text("users.noreply.invalid", "domain of addresses made for users without one"),
    secret_key_headers: Type.Optional(Words("headers beside X-Service-Secret-Key that may carry the secret key")),
    publishable_key_headers: Type.Optional(
      Words("headers beside X-Service-Publishable-Key that may carry the publishable key"),
    ),
  },
  "settings of an instance",
);
export type InstanceSettings = Static<typeof InstanceSettings>;

/** Like `InstanceSettings`, with every default filled in. */
export type EffectiveSettings = Required<InstanceSettings>;

export const defaultSettings: EffectiveSettings = {
  redirect_uris: [],
  redirect_query: "known",
  delivery: "query",
  title: "",
  logo_url: "",
  accent: "",
  language: "auto",
  email_signin: true,
  email_signup: true,
  password_signin: true,
  min_password_length: 8,
  block_subaddresses: false,
  linking: "verified",
  store_provider_tokens: true,
  algorithm: "HS256",
  revoked_fails_verify: false,
  session_lifetime_hours: 720,
  session_idle_timeout_minutes: null,
  single_session_per_device: false,
  max_concurrent_sessions: null,
  jwt_issuer: "service",
  session_id_prefix: "svc_session_",
  refresh_token_prefix: "svc_rt_",
  placeholder_domain: "users.noreply.invalid",
  secret_key_headers: [],
  publishable_key_headers: [],
};
