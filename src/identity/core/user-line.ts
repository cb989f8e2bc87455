import { type Parsed, parsed, unreadable } from "../../base/pure/parsed.ts";
import { didYouMean } from "../../base/pure/suggest.ts";
import { normaliseEmail } from "./email.ts";
import { parsePasswordHash } from "./password-hash.ts";

/** One user as an import reads it and an export writes it. Times are epoch milliseconds. */
export interface UserLine {
  /** UUID in lower case; a new one is made where it is left out. */
  id: string | undefined;
  email: string;
  /** The same as the line writes it, but for case and blanks: a domain has several forms. */
  written: string;
  name: string | undefined;
  avatarUrl: string | undefined;
  emailVerifiedAt: number | undefined;
  placeholder: boolean;
  passwordHash: string | undefined;
  bannedAt: number | undefined;
  createdAt: number | undefined;
  updatedAt: number | undefined;
  identities: IdentityLine[];
}

interface IdentityLine {
  provider: string;
  uid: string;
  email: string | undefined;
  emailVerified: boolean;
}

/** The last line of an export: that it is there says that nothing is missing before it. */
export const endMark = "end";

type Fields = Record<string, unknown>;

const identitiesMax = 20;
const textMax = 2048;
const nameMax = 256;

class LineFault extends Error {}

/**
 * Reads one line of an import; undefined for the end mark of an export. `now` stands for a moment that is only said
 * to have been. Written by hand and not by a schema: there are a million of these.
 */
export function parseUserLine(text: string, now: number): Parsed<UserLine | undefined> {
  try {
    const fields = objectOf(text);
    if (fields[endMark] === true) return parsed(undefined);
    for (const field in fields) if (!known.has(field)) throw unknownField(field);
    return parsed(readUser(fields, now));
  } catch (error) {
    if (error instanceof LineFault) return unreadable(error.message);
    throw error;
  }
}

function readUser(fields: Fields, now: number): UserLine {
  const { password_hash: hash } = fields;
  return {
    id: uuidOf(fields.id),
    email: emailOf(fields.email),
    written: String(fields.email).trim().normalize("NFC").toLowerCase(),
    name: textOf(fields, "name", nameMax),
    avatarUrl: addressOf(textOf(fields, "avatar_url", textMax)),
    emailVerifiedAt: momentOf(fields, { at: "email_verified_at", flag: "email_verified", now }),
    placeholder: flagOf(fields, "placeholder"),
    passwordHash: hash === undefined || hash === null ? undefined : hashOf(hash),
    bannedAt: momentOf(fields, { at: "banned_at", flag: "banned", now }),
    createdAt: timeOf(fields, "created_at"),
    updatedAt: timeOf(fields, "updated_at"),
    identities: fields.identities === undefined ? [] : identitiesOf(fields.identities),
  };
}

const known: ReadonlySet<string> = new Set([
  "id",
  "email",
  "name",
  "avatar_url",
  "email_verified",
  "email_verified_at",
  "placeholder",
  "password_hash",
  "banned",
  "banned_at",
  "created_at",
  "updated_at",
  "identities",
]);

function objectOf(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new LineFault("is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new LineFault("not a JSON object");
  return value as Fields;
}

function unknownField(field: string): LineFault {
  const hint = didYouMean(field, [...known]) || `; known are ${[...known].join(", ")}`;
  return new LineFault(`unknown field ${JSON.stringify(field.slice(0, 60))}${hint}`);
}

function textOf(fields: Fields, name: string, max: number): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new LineFault(`${name}: not a string`);
  if (value.length > max) throw new LineFault(`${name}: is longer than ${max} characters`);
  if (value.includes("\0") || !value.isWellFormed()) throw new LineFault(`${name}: is not valid Unicode text`);
  return value;
}

function emailOf(value: unknown): string {
  const email = typeof value === "string" ? normaliseEmail(value) : undefined;
  if (email === undefined) throw new LineFault("email: is required, and must be an address");
  return email;
}

function uuidOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const id = typeof value === "string" ? value.toLowerCase() : "";
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(id)) return id;
  throw new LineFault("id: not a UUID");
}

function addressOf(url: string | undefined): string | undefined {
  if (url === undefined || url === "") return undefined;
  if (/^https?:\/\/[^\s\\]+$/.test(url)) return url;
  throw new LineFault("avatar_url: not an http or https address");
}

/** The hash is never repeated in a message. */
function hashOf(value: unknown): string {
  const hash = typeof value === "string" ? parsePasswordHash(value) : undefined;
  if (hash !== undefined) return hash.kind === "scrypt" ? String(value) : hash.text;
  throw new LineFault("password_hash: not an argon2, bcrypt or scrypt hash, or one that costs too much to check");
}

function flagOf(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw new LineFault(`${name}: is neither true nor false`);
}

/** A time, or a flag that says that there was one. */
function momentOf(fields: Fields, { at, flag, now }: { at: string; flag: string; now: number }): number | undefined {
  const time = timeOf(fields, at);
  const said = flagOf(fields, flag);
  if (time !== undefined) {
    if (fields[flag] === false) throw new LineFault(`${at}: is set, but ${flag} is false`);
    return time;
  }
  return said ? now : undefined;
}

const timePattern = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

function timeOf(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  const at = typeof value === "string" && timePattern.test(value) ? Date.parse(utc(value)) : Number.NaN;
  if (at >= 0) return at;
  throw new LineFault(`${name}: not an ISO 8601 time such as 2026-01-31T10:00:00Z`);
}

/** Without a zone the time of the machine must not decide. */
function utc(text: string): string {
  return text.length > 10 && !/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? `${text}Z` : text;
}

function identitiesOf(value: unknown): IdentityLine[] {
  if (!Array.isArray(value)) throw new LineFault("identities: not a list");
  if (value.length > identitiesMax) throw new LineFault(`identities: has more than ${identitiesMax} entries`);
  const identities = value.map(identityOf);
  if (new Set(identities.map(({ provider, uid }) => `${provider} ${uid}`)).size === identities.length)
    return identities;
  throw new LineFault("identities: names one twice");
}

function identityOf(value: unknown): IdentityLine {
  const fields = (typeof value === "object" && value !== null ? value : {}) as Fields;
  const provider = textOf(fields, "provider", 40) ?? "";
  const uid = textOf(fields, "uid", textMax) ?? "";
  if (!/^[a-z0-9][a-z0-9-]*$/.test(provider) || uid === "") {
    throw new LineFault("identities: each needs a provider and a uid");
  }
  const email = fields.email === undefined || fields.email === null ? undefined : emailOf(fields.email);
  return { provider, uid, email, emailVerified: flagOf(fields, "email_verified") };
}

/** The same as a line of an export, without the line end. */
export function formatUserLine(user: Omit<UserLine, "written">): string {
  const time = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
  return JSON.stringify({
    id: user.id,
    email: user.email,
    name: user.name,
    avatar_url: user.avatarUrl,
    email_verified_at: time(user.emailVerifiedAt),
    placeholder: user.placeholder || undefined,
    password_hash: user.passwordHash,
    banned_at: time(user.bannedAt),
    created_at: time(user.createdAt),
    updated_at: time(user.updatedAt),
    identities:
      user.identities.length === 0
        ? undefined
        : user.identities.map(({ provider, uid, email, emailVerified }) => ({
            provider,
            uid,
            email,
            email_verified: emailVerified,
          })),
  });
}
