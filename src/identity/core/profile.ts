import { asciiDomain, readableEmail } from "../../base/pure/domain-names.ts";
import { isFields } from "../../base/pure/fields.ts";
import type { BuiltInProvider } from "../api/providers.ts";
import { type Parsed, parsed, unreadable } from "../../base/pure/parsed.ts";
import { normaliseEmail } from "./email.ts";

/** A person as a provider describes them: `uid`, `email`, `name`, `avatar_url` (docs/contract/identity.md, 1.3). */
export interface Profile {
  uid: string;
  /** Like `uid`, without its issuer: what a placeholder address is made from. */
  handle: string;
  /** Normalised; undefined when there is none that could be used. */
  email: string | undefined;
  /** The provider has proved the address, and its word counts. */
  emailVerified: boolean;
  /** The provider is the one that hosts the mailbox. */
  authoritative: boolean;
  name: string;
  avatarUrl: string | undefined;
}

export interface ProfileInput {
  kind: BuiltInProvider | "oidc";
  /** Body of the profile endpoint. */
  userinfo: unknown;
  /** Body of github's listing of addresses. */
  emails?: unknown;
  /** Issuer of an oidc connection, put before its ids: another issuer under the same name is another world. */
  issuer?: string | undefined;
  /** Verified addresses of an oidc connection count only then. */
  trusted?: boolean;
}

type Fields = Record<string, unknown>;

const uidLengthMax = 255;
const nameLengthMax = 200;
const urlLengthMax = 2_048;

/** What a profile endpoint said, in one shape for all providers. */
export function readProfile(input: ProfileInput): Parsed<Profile> {
  const fields = fieldsOf(input.userinfo);
  if (fields === undefined) return unreadable("the profile is not an object");
  switch (input.kind) {
    case "google":
      return google(fields);
    case "github":
      return github(fields, input.emails);
    case "twitter":
      return twitter(fields);
    case "oidc":
      return oidc(fields, input);
  }
}

/** `sub` is never reused (OpenID Connect Core section 2). Google hosts gmail.com and domains of Workspace (`hd`). */
function google(fields: Fields): Parsed<Profile> {
  const email = emailOf(fields.email);
  const domain = email?.slice(email.lastIndexOf("@") + 1);
  const hosted = asciiDomain(text(fields.hd) ?? "");
  return profileOf(idOf(fields.sub), {
    email,
    // Google returns verified addresses (docs/contract/identity.md, 1.3), unless it says itself that one is not.
    emailVerified: email !== undefined && isTrue(fields.email_verified ?? fields.verified_email ?? true),
    authoritative: domain === "gmail.com" || (domain !== undefined && domain === hosted),
    name: text(fields.name) ?? readableEmail(email ?? ""),
    avatarUrl: avatar(fields.picture),
  });
}

/** `login` can be given to somebody else, the number cannot. Only the primary address, and only when verified. */
function github(fields: Fields, emails: unknown): Parsed<Profile> {
  const listed: unknown[] = Array.isArray(emails) ? emails : [];
  const primary = listed.map(fieldsOf).find((entry) => entry?.primary === true && entry.verified === true);
  const email = emailOf(primary?.email);
  return profileOf(numberOrId(fields.id), {
    email,
    emailVerified: email !== undefined,
    authoritative: false,
    name: text(fields.name) ?? text(fields.login) ?? "",
    avatarUrl: avatar(fields.avatar_url),
  });
}

function twitter(fields: Fields): Parsed<Profile> {
  const data = fieldsOf(fields.data);
  if (data === undefined) return unreadable("the profile has no data");
  return profileOf(numberOrId(data.id), {
    email: undefined,
    emailVerified: false,
    authoritative: false,
    name: text(data.name) ?? text(data.username) ?? "",
    avatarUrl: avatar(data.profile_image_url),
  });
}

function oidc(fields: Fields, { issuer, trusted = false }: ProfileInput): Parsed<Profile> {
  const sub = idOf(fields.sub);
  const email = emailOf(fields.email);
  const uid = sub === undefined || issuer === undefined ? sub : `${issuer}|${sub}`;
  return profileOf(uid, {
    handle: sub,
    email,
    emailVerified: trusted && email !== undefined && isTrue(fields.email_verified),
    authoritative: trusted,
    name: text(fields.name) ?? text(fields.preferred_username) ?? readableEmail(email ?? ""),
    avatarUrl: avatar(fields.picture),
  });
}

type Rest = Omit<Profile, "uid" | "handle"> & { handle?: string | undefined };

function profileOf(uid: string | undefined, rest: Rest): Parsed<Profile> {
  if (uid === undefined || uid.length > 2 * uidLengthMax) return unreadable("the profile has no id that can be used");
  return parsed({ ...rest, uid, handle: rest.handle ?? uid, name: rest.name.slice(0, nameLengthMax) });
}

function fieldsOf(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined;
}

/** A text with something in it, without control characters. */
function text(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const clean = value
    .replace(/\p{Cc}/gu, "")
    .trim()
    .toWellFormed();
  return clean === "" ? undefined : clean;
}

/**
 * An id, to the byte: two ids that differ in anything are two people (OpenID Connect Core section 2). What a database,
 * a log or a terminal would change is refused: control characters, and halves of characters.
 */
function idOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "" || value.length > uidLengthMax) return undefined;
  return /\p{Cc}/u.test(value) || !value.isWellFormed() ? undefined : value;
}

function numberOrId(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return idOf(value);
}

/** Some providers write booleans as texts. */
function isTrue(value: unknown): boolean {
  return value === true || value === "true";
}

function emailOf(value: unknown): string | undefined {
  return typeof value === "string" ? normaliseEmail(value) : undefined;
}

function avatar(value: unknown): string | undefined {
  const address = text(value);
  if (address === undefined || address.length > urlLengthMax || !URL.canParse(address)) return undefined;
  return /^https?:$/.test(new URL(address).protocol) ? address : undefined;
}
