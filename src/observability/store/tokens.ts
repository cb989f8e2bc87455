import type { Database } from "bun:sqlite";
import { type Scope, scopes } from "../../base/wire/endpoint.ts";
import type { Token, Use } from "./records.ts";

interface Row {
  id: string;
  hash: Uint8Array;
  name: string | null;
  scopes: string;
  apps: string;
  networks: string;
  created_at: number;
  created_by: string;
  expires_at: number | null;
  last_used_at: number | null;
  last_used_ip: string | null;
  last_used_agent: string | null;
  revoked_at: number | null;
}

export interface Tokens {
  get(id: string): Token | undefined;
  /** With the SHA-256 of the whole token. */
  withHash(id: string): { token: Token; hash: Uint8Array } | undefined;
  /** Newest first, also those that have ended. */
  list(): Token[];
  add(token: Token, hash: Uint8Array): void;
  /** Notes a use of a token that is there and not revoked; never brings one back. */
  touch(id: string, use: Use): void;
  /** False where there is none, or it was revoked before. */
  revoke(id: string, at: number): boolean;
  /** The token ends at `at`, unless it does so earlier. */
  endBy(id: string, at: number): void;
  /** Drops the ended tokens that ended first, beyond `kept`. */
  trim(now: number, kept: number): number;
}

export function createTokens(db: Database): Tokens {
  const byId = db.query<Row, [string]>("select * from tokens where id = ?");
  const all = db.query<Row, []>("select * from tokens order by created_at desc, id");
  const insert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert into tokens (id, hash, name, scopes, apps, networks, created_at, created_by, expires_at)" +
      " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const touch = db.query<unknown, [number, string, string, string]>(
    "update tokens set last_used_at = ?, last_used_ip = ?, last_used_agent = ? where id = ? and revoked_at is null",
  );
  const revoke = db.query<unknown, [number, string]>(
    "update tokens set revoked_at = ? where id = ? and revoked_at is null",
  );
  const endBy = db.query<unknown, [number, string, number]>(
    "update tokens set expires_at = ? where id = ? and (expires_at is null or expires_at > ?)",
  );
  const trim = db.query<unknown, [number, number]>(
    "delete from tokens where id in (select id from tokens where revoked_at is not null or expires_at <= ?" +
      " order by coalesce(revoked_at, expires_at) desc limit -1 offset ?)",
  );
  return {
    get(id) {
      const row = byId.get(id);
      return row === null ? undefined : toToken(row);
    },
    withHash(id) {
      const row = byId.get(id);
      return row === null ? undefined : { token: toToken(row), hash: row.hash };
    },
    list: () => all.all().map(toToken),
    add({ id, name, scopes: granted, apps, networks, createdAt, createdBy, expiresAt }, hash) {
      const lists = [granted, apps, networks].map((list) => JSON.stringify(list));
      insert.run(id, hash, name ?? null, ...lists, createdAt, createdBy, expiresAt ?? null);
    },
    touch: (id, { at, ip, agent }) => void touch.run(at, ip, agent, id),
    revoke: (id, at) => revoke.run(at, id).changes > 0,
    endBy: (id, at) => void endBy.run(at, id, at),
    trim: (now, kept) => trim.run(now, kept).changes,
  };
}

function toToken(row: Row): Token {
  return {
    id: row.id,
    name: row.name ?? undefined,
    scopes: listOf(row.scopes).filter((word): word is Scope => (scopes as readonly string[]).includes(word)),
    apps: listOf(row.apps),
    networks: listOf(row.networks),
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    lastUsedIp: row.last_used_ip ?? undefined,
    lastUsedAgent: row.last_used_agent ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}

function listOf(json: string): string[] {
  const list: unknown = JSON.parse(json);
  return Array.isArray(list) ? list.map(String) : [];
}
