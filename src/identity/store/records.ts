import type { ProviderKind, ProviderOptions } from "../api/providers.ts";
import type { InstanceSettings } from "../api/settings.ts";
import type { ChainState } from "../core/refresh-token.ts";

/** Rows of the identity service as the floors above see them. Times are epoch milliseconds. */
export interface App {
  /** `app_…`: opaque. */
  id: string;
  name: string;
  createdAt: number;
}

/** An account at a provider: (instance, provider, uid) is unique. */
export interface Identity {
  seq: number;
  /** UUID. */
  id: string;
  instance: number;
  user: number;
  provider: string;
  /** The provider's own name for the account; of an oidc connection the issuer comes first. */
  uid: string;
  /** As the provider told it. */
  email: string | undefined;
  /** The provider's word for that address counts. */
  emailVerified: boolean;
  accessToken: string | undefined;
  refreshToken: string | undefined;
  tokenExpiresAt: number | undefined;
  createdAt: number;
  updatedAt: number;
}

/** Where the provider's answer may be taken to, fixed when the browser is sent away. */
export interface StateEndpoints {
  clientId: string;
  token: string;
  userinfo: string;
  emails: string | undefined;
  issuer: string | undefined;
  jwks: string | undefined;
  /** How the client proves itself at the token endpoint. */
  auth: "basic" | "body";
  /** Its answers must carry its name (RFC 9207). */
  namesItself: boolean;
}

/** The record of a state (docs/contract/identity.md, 1.2), and what binds it to the browser that started. */
export interface OAuthState {
  /** sha256 of the state value. */
  hash: Uint8Array;
  instance: number;
  provider: string;
  redirectUri: string;
  /** sha256 of the browser's cookie. */
  browser: Uint8Array;
  /** Network that began. */
  client: string;
  endpoints: StateEndpoints;
  codeVerifier: string | undefined;
  nonce: string | undefined;
  createdAt: number;
  expiresAt: number;
}

export type OneTimePurpose = "verify_email" | "reset_password" | "deliver_token";

/** A value that works once; only its sha256 is known here. */
export interface OneTime {
  hash: Uint8Array;
  instance: number;
  user: number | undefined;
  purpose: OneTimePurpose;
  /** Small JSON; sealed. */
  data: Record<string, unknown>;
  createdAt: number;
  expiresAt: number;
}

/** A browser that is signed in at the hosted pages of an instance. */
export interface BrowserRecord {
  /** sha256 of its cookie. */
  hash: Uint8Array;
  instance: number;
  session: number;
  createdAt: number;
  expiresAt: number;
}

/** kept: there is no mail server to send it with. */
export type MailState = "kept" | "waiting" | "sent" | "failed";

export interface MailMessage {
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface Mail {
  seq: number;
  /** `mail_…`: opaque. */
  id: string;
  instance: number;
  purpose: "verify_email" | "account_exists" | "reset_password";
  message: MailMessage;
  state: MailState;
  attempts: number;
  nextAt: number;
  lastError: string | undefined;
  createdAt: number;
}

export interface Instance {
  /** Internal number: what other rows refer to. Never on the wire. */
  seq: number;
  /** `inst_…`: opaque. */
  id: string;
  appId: string;
  name: string;
  environment: "production" | "development";
  /** Lower case, without port; undefined while it has none. */
  host: string | undefined;
  publishableKey: string;
  /** As written: see `defaultSettings` for what is left out. */
  settings: InstanceSettings;
  createdAt: number;
  updatedAt: number;
}

/** staged: accepted, does not sign. signing: signs. previous: accepted until `expiresAt`. */
export type KeyState = "staged" | "signing" | "previous";

export interface Key {
  /** Public: the `kid` of tokens. */
  id: string;
  instance: number;
  /** api keys are accepted by the API and never sign. */
  use: "secret" | "api";
  state: KeyState;
  /** The key itself. */
  value: string;
  /** First characters, to tell keys apart. */
  prefix: string;
  createdAt: number;
  expiresAt: number | undefined;
}

export interface User {
  seq: number;
  /** UUID. */
  id: string;
  instance: number;
  /** In the one form of `normaliseEmail`; otherwise only where another user has that form. */
  email: string;
  name: string;
  avatarUrl: string | undefined;
  emailVerifiedAt: number | undefined;
  /** The address was made by us: it never links, never gets mail. */
  placeholder: boolean;
  /** PHC string of argon2id, bcrypt or scrypt. */
  passwordHash: string | undefined;
  bannedAt: number | undefined;
  createdAt: number;
  updatedAt: number;
}

export interface Session {
  seq: number;
  /** UUID: the resource id. */
  id: string;
  /** `svc_session_<uuid>` unless the instance says otherwise. */
  sessionId: string;
  instance: number;
  user: number;
  provider: string;
  /** At sign-in time. */
  name: string;
  email: string;
  ipAddress: string;
  userAgent: string;
  geoData: Record<string, unknown>;
  /** Which browser: sha256 of its cookie in hex. */
  device: string | undefined;
  loggedInAt: number;
  lastSigninAt: number;
  lastActivityAt: number;
  expiresAt: number | undefined;
  revokedAt: number | undefined;
  revokeReason: string | undefined;
  createdAt: number;
}

export interface Provider {
  /** 0: for all instances. */
  instance: number;
  /** Name of a provider of docs/contract/identity.md, 1.3, or of an OpenID Connect connection. */
  name: string;
  kind: ProviderKind;
  enabled: boolean;
  clientId: string | undefined;
  clientSecret: string | undefined;
  options: ProviderOptions;
  createdAt: number;
  updatedAt: number;
}

/** Who did what. Never a token, code, password or the content of a mail. */
export interface AuditEntry {
  seq: number;
  /** UUID. */
  id: string;
  instance: number;
  at: number;
  /** `user`, `api:<key id>`, `operator`, `service` or another free text. */
  actor: string;
  /** Dotted: `signin.ok`, `session.revoke`, `key.rotate` … */
  action: string;
  /** UUID of the user it is about. */
  userId: string | undefined;
  email: string | undefined;
  sessionId: string | undefined;
  provider: string | undefined;
  ipAddress: string | undefined;
  /** Small JSON. */
  detail: Record<string, unknown>;
}

/** A webhook of an instance. */
export interface Webhook {
  seq: number;
  /** `hook_…`: opaque. */
  id: string;
  instance: number;
  url: string;
  /** The HMAC key of its signatures. */
  secret: string;
  /** Names of events; empty for all. */
  events: string[];
  enabled: boolean;
  createdAt: number;
}

/** One call of a webhook. */
export interface WebhookDelivery {
  seq: number;
  /** The same for every attempt: receivers know a repetition by it. */
  id: string;
  hook: number;
  instance: number;
  event: string;
  /** Id of the user that it is about; empty: it has no order. */
  subject: string;
  body: string;
  status: "waiting" | "delivered" | "dropped";
  attempts: number;
  nextAt: number;
  /** A status or a short reason, never anything that was sent or received. */
  lastResult: string | undefined;
  createdAt: number;
}

/** The refresh tokens of one exchange: each is used once, then the next generation is the one that counts. */
export interface RefreshChain extends ChainState {
  /** 16 bytes: names the sign-in token that was exchanged. */
  id: Uint8Array;
  session: number;
  expiresAt: number;
  createdAt: number;
}

/** The public half of an RSA key (RFC 7517). */
export interface PublicJwk {
  kty: "RSA";
  n: string;
  e: string;
}

export interface SigningPair {
  /** Public: the `kid` of tokens. */
  id: string;
  instance: number;
  /** As of keys: a staged one is published, so that everybody knows it before it signs. */
  state: KeyState;
  publicJwk: PublicJwk;
  /** PKCS 8. */
  privatePem: string;
  createdAt: number;
  expiresAt: number | undefined;
}
