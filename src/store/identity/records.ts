import type { ProviderKind, ProviderOptions } from "../../api/identity/providers.ts";
import type { InstanceSettings } from "../../api/identity/settings.ts";

/** Rows of the identity service as the floors above see them. Times are epoch milliseconds. */
export interface App {
  /** `app_…`: opaque. */
  id: string;
  name: string;
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
  /** Trimmed, NFC, lower case. */
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
  /** Of the contract, or of an oidc connection. */
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
export interface Hook {
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
export interface HookDelivery {
  seq: number;
  /** The same for every attempt: receivers know a repetition by it. */
  id: string;
  hook: number;
  instance: number;
  event: string;
  body: string;
  status: "waiting" | "delivered" | "dropped";
  attempts: number;
  nextAt: number;
  /** A status or a short reason, never anything that was sent or received. */
  lastResult: string | undefined;
  createdAt: number;
}

/** One link of the chain of a session; a spent one is kept until it expires. */
export interface RefreshToken {
  /** sha256 of the token. */
  hash: Uint8Array;
  session: number;
  spentAt: number | undefined;
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
