import type { Database } from "bun:sqlite";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Identity } from "./records.ts";

interface Row {
  seq: number;
  id: string;
  instance: number;
  user: number;
  provider: string;
  uid: string;
  email: string | null;
  email_verified: number;
  access_token: Uint8Array | null;
  refresh_token: Uint8Array | null;
  token_expires_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface Identities {
  get(instance: number, provider: string, uid: string): Identity | undefined;
  /** In order of their joining. */
  list(user: number): Identity[];
  add(identity: Omit<Identity, "seq">): void;
  /** Address and tokens. */
  update(identity: Identity): void;
  /** Those whose provider has not proved this address of the user. How many there were. */
  removeUnproved(user: number, email: string): number;
}

/** Tokens of providers are sealed. */
export function createIdentities(db: Database, seal: Seal): Identities {
  const one = db.query<Row, [number, string, string]>(
    "select * from identities where instance = ? and provider = ? and uid = ?",
  );
  const ofUser = db.query<Row, [number]>("select * from identities where user = ? order by seq");
  const insert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert into identities (id, instance, user, provider, uid, created_at, email, email_verified, access_token," +
      ` refresh_token, token_expires_at, updated_at) values (${Array(12).fill("?").join(", ")})`,
  );
  const update = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "update identities set email = ?, email_verified = ?, access_token = ?, refresh_token = ?, token_expires_at = ?," +
      " updated_at = ? where seq = ?",
  );
  const drop = db.query<unknown, [number, string]>(
    "delete from identities where user = ? and (email_verified = 0 or email is not ?)",
  );
  const changing = (identity: Omit<Identity, "seq">) => {
    const { id, email, emailVerified, accessToken, refreshToken, tokenExpiresAt, updatedAt } = identity;
    const sealed = (value: string | undefined, column: string) =>
      value === undefined ? null : seal.seal(value, placeOf(id, column));
    const tokens = [sealed(accessToken, "access_token"), sealed(refreshToken, "refresh_token")];
    return [email ?? null, emailVerified ? 1 : 0, ...tokens, tokenExpiresAt ?? null, updatedAt];
  };
  const read = (row: Row): Identity => toIdentity(row, seal);
  return {
    get(instance, provider, uid) {
      const row = one.get(instance, provider, uid);
      return row === null ? undefined : read(row);
    },
    list: (user) => ofUser.all(user).map(read),
    add(identity) {
      const { id, instance, user, provider, uid, createdAt } = identity;
      insert.run(id, instance, user, provider, uid, createdAt, ...changing(identity));
    },
    update(identity) {
      update.run(...changing(identity), identity.seq);
    },
    removeUnproved: (user, email) => drop.run(user, email).changes,
  };
}

function toIdentity(row: Row, seal: Seal): Identity {
  const open = (sealed: Uint8Array | null, column: string) =>
    sealed === null ? undefined : seal.open(sealed, placeOf(row.id, column));
  return {
    seq: row.seq,
    id: row.id,
    instance: row.instance,
    user: row.user,
    provider: row.provider,
    uid: row.uid,
    email: row.email ?? undefined,
    emailVerified: row.email_verified === 1,
    accessToken: open(row.access_token, "access_token"),
    refreshToken: open(row.refresh_token, "refresh_token"),
    tokenExpiresAt: row.token_expires_at ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function placeOf(id: string, column: string): string {
  return ["identities", id, column].join("\0");
}
