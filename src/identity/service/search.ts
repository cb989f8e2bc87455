import { Failure } from "../../base/wire/failure.ts";
import { bothOf, containing, isEmpty, parseSearch, type Search } from "../core/search.ts";
import { type SearchKind, searchColumns } from "../core/search-columns.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
import type { Listing } from "./listing.ts";
import type { SearchThreadClient } from "./search-thread.ts";
import type { Page } from "./sessions.ts";

export interface SearchQuery extends Page {
  /** As the caller wrote it. */
  query: string | undefined;
  /** Rows whose address contains this, whatever the case. */
  email: string | undefined;
  /** Tokens that mean nothing are refused instead of ignored. */
  strict: boolean;
}

export interface Found extends Listing {
  /** Tokens that mean nothing here. */
  ignored: readonly string[];
}

/**
 * Users, sessions and the audit trail of an instance by the grammar of docs/contract/identity.md, 3.3, newest first.
 * Each fails `invalid` for a query that is too long, and for ignored tokens when `strict`; `unavailable` when it would
 * take too long.
 */
export interface Searches {
  users(entry: InstanceEntry, query: SearchQuery): Found | Promise<Found>;
  sessions(entry: InstanceEntry, query: SearchQuery): Found | Promise<Found>;
  audit(entry: InstanceEntry, query: SearchQuery): Found | Promise<Found>;
}

export function createSearches(context: IdentityContext, thread: SearchThreadClient): Searches {
  const { cursors, limits } = context;
  const run = (kind: SearchKind) => (entry: InstanceEntry, asked: SearchQuery) => {
    const search = readSearch(kind, asked, limits.search);
    const { ignored } = search;
    const place = { instance: entry.instance.seq, list: `${kind} search` } as const;
    const [before] = cursors.read(place, asked.cursor, 1) ?? [];
    if (isEmpty(search)) return { json: "[]", next: undefined, ignored };
    const exact = kind === "users" && before === undefined ? exactUsers(context, entry, search) : undefined;
    if (exact !== undefined) return { json: exact, next: undefined, ignored };
    const rowsMax = Math.min(asked.limit ?? limits.search.rowsMax, limits.search.rowsMax);
    const request = { kind, instance: entry.instance.seq, search, rowsMax, bytesMax: limits.listBytesMax, before };
    return thread.run(request).then(({ body, next }) => ({
      json: body,
      next: next === undefined ? undefined : cursors.write(place, [next]),
      ignored,
    }));
  };
  return { users: run("users"), sessions: run("sessions"), audit: run("audit") };
}

function readSearch(
  kind: SearchKind,
  { query = "", email = "", strict }: SearchQuery,
  limits: { queryBytesMax: number; tokensMax: number; rowsMax: number },
): Search {
  if (Buffer.byteLength(query) + Buffer.byteLength(email) > limits.queryBytesMax) {
    throw new Failure("invalid", `the query is longer than ${limits.queryBytesMax} bytes: ask for less at a time`);
  }
  const written = parseSearch(query, searchColumns[kind]);
  const search = email === "" ? written : bothOf(written, containing("email", email));
  if (search.tokens > limits.tokensMax) {
    throw new Failure("invalid", `the query has more than ${limits.tokensMax} tokens: ask for less at a time`);
  }
  if (strict && search.ignored.length > 0) {
    const known = Object.keys(searchColumns[kind]).join(", ");
    throw new Failure("invalid", `no search by ${search.ignored.join(" ")}: write field:value with one of ${known}`);
  }
  return search;
}

/** A few users by address or id alone are found in microseconds: less than it takes to ask the thread. */
function exactUsers({ store }: IdentityContext, { instance }: InstanceEntry, search: Search): string | undefined {
  const [group] = search.groups;
  if (group === undefined || search.groups.length > 1 || search.all.length + search.none.length > 0) return undefined;
  const by = group.field === "email" || group.field === "id" ? group.field : undefined;
  if (by === undefined || !group.oneOf.every((term) => term.is === "equal")) return undefined;
  const [term, ...others] = group.oneOf;
  if (term !== undefined && others.length === 0) {
    return `[${store.shownUsers.get(instance.seq, by, term.value)?.json ?? ""}]`;
  }
  const values = new Set(group.oneOf.map(({ value }) => value));
  const found = [...values].flatMap((value) => store.shownUsers.get(instance.seq, by, value) ?? []);
  found.sort((a, b) => b.seq - a.seq);
  return `[${found.map(({ json }) => json).join(",")}]`;
}
