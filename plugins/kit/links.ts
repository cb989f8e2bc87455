import type { Action } from "../../src/orchestration/api/plugins/action.ts";
import { type Reference, referenceText } from "./arguments.ts";

/** An app that was given a URL: enough to write it again when the primary or a password changes. */
export interface Link {
  /** `scope/name`. */
  app: string;
  /** Key of the app's config that holds the URL. */
  key: string;
  /** Whether a second key holds a URL for reading, from any pod. */
  reads: boolean;
  database: string;
  user: string;
  /** Written in the block, and not made by a command. */
  declared: boolean;
}

export function sameLink(a: Link, b: Link): boolean {
  return a.app === b.app && a.key === b.key;
}

/** The links in a bucket's value; what cannot be read counts as none. */
export function readLinks(value: string | undefined): Link[] {
  let rows: unknown;
  try {
    rows = JSON.parse(value === undefined || value === "" ? "[]" : value);
  } catch {
    return [];
  }
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: unknown) => {
    const { app, key, reads, database, user, declared }: Record<string, unknown> =
      typeof row === "object" && row !== null ? { ...row } : {};
    if (typeof app !== "string" || typeof key !== "string") return [];
    const rest = { reads: reads === true, declared: declared === true };
    return [{ app, key, ...rest, database: String(database ?? ""), user: String(user ?? "") }];
  });
}

/** The value with this link in it, in the place of an earlier one for the same key of the same app. */
export function withLink(links: readonly Link[], link: Link): Link[] {
  return [...withoutLink(links, link.app, link.key), link].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

export function withoutLink(links: readonly Link[], app: string, key: string | undefined): Link[] {
  return links.filter((link) => link.app !== app || (key !== undefined && link.key !== key));
}

const sortKey = ({ app, key }: Link) => `${app} ${key}`;

/** `DATABASE_URL` → `DATABASE_READ_URL`. */
export function readKey(key: string): string {
  return key.endsWith("_URL") ? `${key.slice(0, -"_URL".length)}_READ_URL` : `${key}_READ`;
}

export interface Urls {
  write: string;
  read: string;
}

/** What gives an app its URLs; the app is rolled, since that is how it learns of them. */
export function linkAction(link: Link, urls: Urls): Action {
  const kv = { [link.key]: urls.write, ...(link.reads ? { [readKey(link.key)]: urls.read } : {}) };
  const summary = `config_set ${link.app}: ${Object.keys(kv).join(", ")}`;
  return { type: "config_set", ...splitReference(link.app), kv, summary };
}

export function unlinkAction(link: Link): Action {
  const gone = [link.key, ...(link.reads ? [readKey(link.key)] : [])];
  return {
    type: "config_unset",
    ...splitReference(link.app),
    keys: gone,
    summary: `config_unset ${link.app}: ${gone.join(", ")}`,
  };
}

/** What the block remembers of its links; its own pods need not be rolled for that. */
export function linksAction(of: Reference, key: string, links: readonly Link[]): Action {
  const kv = { [key]: links.length === 0 ? "" : JSON.stringify(links) };
  return {
    type: "config_set",
    ...of,
    kv,
    skip_restart: true,
    summary: `links of ${referenceText(of)}: ${links.length}`,
  };
}

function splitReference(text: string): Reference {
  const at = text.indexOf("/");
  return { scope: text.slice(0, at), name: text.slice(at + 1) };
}
