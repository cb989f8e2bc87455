import type { Database } from "bun:sqlite";
import { userResource } from "../core/resources.ts";
import { createKeptByUser, type KeptByUser } from "./kept-by-user.ts";
import type { SharedRead } from "./shared-read.ts";
import type { UserRow } from "./users.ts";

interface ShownUser {
  seq: number;
  id: string;
  /** Its resource object. */
  json: string;
}

/**
 * What the resource object of a user shows, by UUID or address: what apps look up most, one user at a time. Those that
 * were found are kept in memory until the user, a session or a connected account of theirs changes.
 */
export interface ShownUsers extends Pick<KeptByUser<ShownUser>, "forget"> {
  get(instance: number, by: "id" | "email", value: string): ShownUser | undefined;
}

export function createShownUsers(db: Database, reading: SharedRead, most: number): ShownUsers {
  const sql = prepare(db);
  const kept = createKeptByUser<ShownUser>(most);
  return {
    get(instance, by, value) {
      // Inside a write nothing is committed yet.
      if (db.inTransaction) return optional(sql[by].get(instance, value));
      const key = `${instance} ${by} ${value}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      reading.begin();
      const found = optional(sql[by].get(instance, value));
      if (found !== undefined) kept.put(key, found.seq, found);
      return found;
    },
    forget: kept.forget,
  };
}

/** One lean statement. */
const shownUser =
  "select u.seq, u.id, u.email, u.name, u.avatar_url, u.email_verified_at, u.created_at," +
  " u.password_hash is not null as has_password, (select group_concat(provider, char(10)) from (select provider from identities where user = u.seq" +
  " order by seq)) as joined from users as u where u.instance = ?";

type ShownColumn = "seq" | "id" | "email" | "name" | "avatar_url" | "email_verified_at" | "created_at";

interface ShownRow extends Pick<UserRow, ShownColumn> {
  has_password: number;
  /** Names of providers, a line each. */
  joined: string | null;
}

function prepare(db: Database) {
  return {
    id: db.query<ShownRow, [number, string]>(`${shownUser} and u.id = ?`),
    email: db.query<ShownRow, [number, string]>(`${shownUser} and u.email = ?`),
  };
}

function optional(row: ShownRow | null): ShownUser | undefined {
  return row === null ? undefined : toShown(row);
}

function toShown(row: ShownRow): ShownUser {
  const resource = userResource({
    id: row.id,
    email: row.email,
    name: row.name,
    avatarUrl: row.avatar_url ?? undefined,
    emailVerifiedAt: row.email_verified_at ?? undefined,
    createdAt: row.created_at,
    providers: row.joined === null ? [] : row.joined.split("\n"),
    hasPassword: row.has_password === 1,
  });
  return { seq: row.seq, id: row.id, json: JSON.stringify(resource) };
}
