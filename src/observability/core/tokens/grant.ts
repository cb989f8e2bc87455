import { holdsAdmin } from "../../../access/principal.ts";
import type { Scope } from "../../../base/wire/endpoint.ts";

/** What a request may do: the token behind it, as far as the plane needs it. */
export interface Grant {
  /** Public part of the token. */
  id: string;
  name: string | undefined;
  scopes: readonly Scope[];
  /** Globs of apps, `scope` or `scope/name`; empty: every app. */
  apps: readonly string[];
  /** Epoch milliseconds. */
  expiresAt: number | undefined;
  /** Id of the session of a browser, where its cookie stood for the token. */
  session?: string;
  /** Address of the person who signed in through the identity service. */
  person?: string;
}

/** Who is on record for what a grant does: `person:<address>`, or `pat:<id>` where a token came by itself. */
export function actorOf({ id, person }: Pick<Grant, "id" | "person">): string {
  return person === undefined ? `pat:${id}` : `person:${person}`;
}

/**
 * The scopes that count. `admin` is about the whole server: a token that is limited to apps has it no more, which older
 * versions let be made.
 */
export function heldScopes(token: Pick<Grant, "scopes" | "apps">): readonly Scope[] {
  return holdsAdmin(token) ? token.scopes : token.scopes.filter((scope) => scope !== "admin");
}

/** Longest glob of a filter, and how many of them a token may have. */
const globCharactersMax = 200;
export const globsMax = 50;

/** Why a text is not a glob of apps; undefined if it is one. */
export function globFault(glob: string): string | undefined {
  if (glob.length > globCharactersMax) return `is longer than ${globCharactersMax} characters`;
  if (/^[a-z0-9*][a-z0-9*._-]*(\/[a-z0-9*][a-z0-9*._-]*)?$/i.test(glob)) return undefined;
  return "is not scope or scope/name, such as shop, shop/web or shop/worker-*";
}
