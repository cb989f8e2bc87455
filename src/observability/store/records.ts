import type { Role } from "../api/people.ts";
import type { Scope } from "../../base/wire/endpoint.ts";

/** A personal access token as stored: its hash is apart, and the token itself nowhere. Times are epoch milliseconds. */
export interface Token {
  id: string;
  name: string | undefined;
  scopes: readonly Scope[];
  apps: readonly string[];
  networks: readonly string[];
  createdAt: number;
  createdBy: string;
  expiresAt: number | undefined;
  lastUsedAt: number | undefined;
  lastUsedIp: string | undefined;
  lastUsedAgent: string | undefined;
  revokedAt: number | undefined;
}

export interface Use {
  at: number;
  ip: string;
  agent: string;
}

/** Something that was done or tried, and by whom. */
export interface AuditEntry {
  /** Grows with every entry. */
  seq: number;
  id: string;
  at: number;
  /** `pat:<id>`, `person:<address>`, or what the client of the orchestration plane calls itself. */
  actor: string;
  ip: string | undefined;
  /** Such as `POST /api/pat/v1/pods/:name/restart`. */
  action: string;
  /** The path as asked for. */
  target: string;
  /** Parameters of the query; never a body, which may hold secrets. */
  params: Readonly<Record<string, string>>;
  /** `ok`, or status and text of the error. */
  outcome: string;
  durationMs: number;
  requestId: string;
}

/** A browser that is signed in. */
export interface UiSession {
  id: string;
  /** Id of the token behind it: the session can do what the token can, and dies with it. */
  token: string;
  /** The token was made for this session alone. */
  owned: boolean;
  createdAt: number;
  expiresAt: number;
  endedAt: number | undefined;
  ip: string;
  agent: string;
  /** Who signed in through the identity service, and the session there: this one ends with it. */
  person?: { id: string; session: string } | undefined;
}

/** Someone who may sign in through the identity service. Times are epoch milliseconds. */
export interface Person {
  id: string;
  /** In lower case. */
  email: string;
  role: Role;
  /** Globs of the apps that the person may see; empty: every app. */
  apps: readonly string[];
  /** The user of the instance, from the first sign-in on: the address alone is not enough then. */
  user: string | undefined;
  createdAt: number;
  createdBy: string;
  lastSignInAt: number | undefined;
}
