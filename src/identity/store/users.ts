import type { Database } from "bun:sqlite";
import { writtenDomain } from "./address-forms.ts";
import type { User } from "./records.ts";

export interface UserRow {
  seq: number;
  id: string;
  instance: number;
  email: string;
  name: string;
  avatar_url: string | null;
  email_verified_at: number | null;
  placeholder: number;
  password_hash: string | null;
  banned_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface Users {
  /** By UUID, within one instance. */
  get(instance: number, id: string): User | undefined;
  /** By UUID, whatever its instance. */
  find(id: string): User | undefined;
  bySeq(seq: number): User | undefined;
  byEmail(instance: number, email: string): User | undefined;
  /** Newest first; `before` is the `seq` of the last one seen. */
  list(instance: number, page: { limit: number; before?: number }): User[];
  /** Names of the connected providers, `password` aside, in order of their joining. */
  providers(seq: number): string[];
  /** Oldest first; `after` is the `seq` of the last one seen. */
  oldest(instance: number, page: { limit: number; after: number }): User[];
  /** Whose address is not in its one form: another user had that already. Oldest first; of all instances where none is given. */
  writtenOtherwise(most: number, instance?: number): User[];
  add(user: Omit<User, "seq">): User;
  /** Undefined, and nothing done, where the id or the address is taken; else the `seq` of the new row. */
  addNew(user: Omit<User, "seq">): number | undefined;
  /** Everything but the identity. */
  update(user: User): void;
  /** With identities, sessions and tokens. False when it was not there. */
  remove(seq: number): boolean;
}

export function createUsers(db: Database): Users {
  const sql = prepare(db);
  return {
    get: (instance, id) => optional(sql.byId.get(instance, id)),
    find: (id) => optional(sql.anywhere.get(id)),
    bySeq: (seq) => optional(sql.bySeq.get(seq)),
    byEmail: (instance, email) => optional(sql.byEmail.get(instance, email)),
    list: (instance, { limit, before }) =>
      sql.newest.all(instance, before ?? Number.MAX_SAFE_INTEGER, limit).map(toUser),
    providers: (seq) => sql.providers.all(seq).map(({ provider }) => provider),
    oldest: (instance, { limit, after }) => sql.oldest.all(instance, after, limit).map(toUser),
    writtenOtherwise: (most, instance) =>
      (instance === undefined ? sql.written.all(most) : sql.writtenIn.all(instance, most)).map(toUser),
    addNew(user) {
      const { id, instance, createdAt, updatedAt } = user;
      const { changes, lastInsertRowid } = sql.insertNew.run(id, instance, ...columnsOf(user), createdAt, updatedAt);
      return changes === 0 ? undefined : Number(lastInsertRowid);
    },
    add(user) {
      const row = sql.insert.get(user.id, user.instance, ...columnsOf(user), user.createdAt, user.updatedAt);
      if (row === null) throw new Error("an insert returned no row");
      return toUser(row);
    },
    update(user) {
      sql.update.run(...columnsOf(user), user.updatedAt, user.seq);
    },
    remove: (seq) => sql.drop.run(seq).changes > 0,
  };
}

type Value = string | number | null;

const insertUser =
  "insert into users (id, instance, email, name, avatar_url, email_verified_at, placeholder, password_hash," +
  " banned_at, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const written = `select * from users indexed by users_by_written_domain where ${writtenDomain}`;

function prepare(db: Database) {
  return {
    byId: db.query<UserRow, [number, string]>("select * from users where instance = ? and id = ?"),
    anywhere: db.query<UserRow, [string]>("select * from users where id = ?"),
    bySeq: db.query<UserRow, [number]>("select * from users where seq = ?"),
    byEmail: db.query<UserRow, [number, string]>("select * from users where instance = ? and email = ?"),
    newest: db.query<UserRow, [number, number, number]>(
      "select * from users where instance = ? and seq < ? order by seq desc limit ?",
    ),
    oldest: db.query<UserRow, [number, number, number]>(
      "select * from users where instance = ? and seq > ? order by seq limit ?",
    ),
    written: db.query<UserRow, [number]>(`${written} order by instance, seq limit ?`),
    writtenIn: db.query<UserRow, [number, number]>(`${written} and instance = ? order by seq limit ?`),
    providers: db.query<{ provider: string }, [number]>("select provider from identities where user = ? order by seq"),
    insert: db.query<UserRow, Value[]>(`${insertUser} returning *`),
    insertNew: db.query<unknown, Value[]>(`${insertUser} on conflict do nothing`),
    update: db.query<unknown, Value[]>(
      "update users set email = ?, name = ?, avatar_url = ?, email_verified_at = ?, placeholder = ?," +
        " password_hash = ?, banned_at = ?, updated_at = ? where seq = ?",
    ),
    drop: db.query<unknown, [number]>("delete from users where seq = ?"),
  };
}

function columnsOf(user: Omit<User, "seq">): (string | number | null)[] {
  const { email, name, avatarUrl, emailVerifiedAt, placeholder, passwordHash, bannedAt } = user;
  const nullable = [avatarUrl ?? null, emailVerifiedAt ?? null, placeholder ? 1 : 0];
  return [email, name, ...nullable, passwordHash ?? null, bannedAt ?? null];
}

function optional(row: UserRow | null): User | undefined {
  return row === null ? undefined : toUser(row);
}

function toUser(row: UserRow): User {
  return {
    seq: row.seq,
    id: row.id,
    instance: row.instance,
    email: row.email,
    name: row.name,
    avatarUrl: row.avatar_url ?? undefined,
    emailVerifiedAt: row.email_verified_at ?? undefined,
    placeholder: row.placeholder === 1,
    passwordHash: row.password_hash ?? undefined,
    bannedAt: row.banned_at ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
