import { holdsAdmin } from "../../../access/principal.ts";
import type { Scope } from "../../api/plane-endpoint.ts";

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

/** An app as a filter sees it. */
export interface AppName {
  scope: string;
  name: string;
}

/**
 * Whether a token may see an app. What it may not see is left out of lists and is a 404 elsewhere. `*` in a glob stands
 * for any characters of one part; a glob without a slash means every app of the scope.
 */
export function mayReach({ apps }: Pick<Grant, "apps">, { scope, name }: AppName): boolean {
  return apps.length === 0 || apps.some((glob) => matches(glob, scope, name));
}

/** Whether a token may see what belongs to no app: the host, the ingress as a whole, every event. */
export function reachesAll({ apps }: Pick<Grant, "apps">): boolean {
  return apps.length === 0;
}

/** Longest glob of a filter, and how many of them a token may have. */
const globCharactersMax = 200;
export const globsMax = 50;

/** Why a text is no glob of apps; undefined where it is one. */
export function globFault(glob: string): string | undefined {
  if (glob.length > globCharactersMax) return `is longer than ${globCharactersMax} characters`;
  if (/^[a-z0-9*][a-z0-9*._-]*(\/[a-z0-9*][a-z0-9*._-]*)?$/i.test(glob)) return undefined;
  return "is not scope or scope/name, such as shop, shop/web or shop/worker-*";
}

function matches(glob: string, scope: string, name: string): boolean {
  const [scopeGlob = "", nameGlob = "*"] = glob.split("/");
  return fits(scopeGlob, scope) && fits(nameGlob, name);
}

/** Greedy, with one step back to the last star: linear for all that a filter holds. */
function fits(glob: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let mark = 0;
  let i = 0;
  while (i < text.length) {
    if (at < glob.length && glob[at] === "*") {
      star = at;
      at += 1;
      mark = i;
    } else if (at < glob.length && glob[at] === text[i]) {
      at += 1;
      i += 1;
    } else if (star >= 0) {
      at = star + 1;
      mark += 1;
      i = mark;
    } else return false;
  }
  while (glob[at] === "*") at += 1;
  return at === glob.length;
}
