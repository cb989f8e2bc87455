import type { Database } from "bun:sqlite";
import type { RefreshToken } from "./records.ts";

interface Row {
  hash: Uint8Array;
  session: number;
  spent_at: number | null;
  expires_at: number;
  created_at: number;
}

export interface RefreshTokens {
  /** By sha256 of the token. */
  get(hash: Uint8Array): RefreshToken | undefined;
  add(token: RefreshToken): void;
  /** A spent one keeps its row: its return tells of theft. */
  spend(hash: Uint8Array, now: number): void;
  /** All of one session. */
  burn(session: number): void;
  /** Drops what has expired, at most `most`; returns how many went. */
  purge(now: number, most: number): number;
}

export function createRefreshTokens(db: Database): RefreshTokens {
  const byHash = db.query<Row, [Uint8Array]>("select * from refresh_tokens where hash = ?");
  const insert = db.query<unknown, [Uint8Array, number, number | null, number, number]>(
    "insert into refresh_tokens (hash, session, spent_at, expires_at, created_at) values (?, ?, ?, ?, ?)",
  );
  const spend = db.query<unknown, [number, Uint8Array]>("update refresh_tokens set spent_at = ? where hash = ?");
  const burn = db.query<unknown, [number]>("delete from refresh_tokens where session = ?");
  const purge = db.query<unknown, [number, number]>(
    "delete from refresh_tokens where hash in (select hash from refresh_tokens where expires_at <= ? limit ?)",
  );
  return {
    get: (hash) => toToken(byHash.get(hash)),
    add({ hash, session, spentAt, expiresAt, createdAt }) {
      insert.run(hash, session, spentAt ?? null, expiresAt, createdAt);
    },
    spend(hash, now) {
      spend.run(now, hash);
    },
    burn(session) {
      burn.run(session);
    },
    purge: (now, most) => purge.run(now, most).changes,
  };
}

function toToken(row: Row | null): RefreshToken | undefined {
  if (row === null) return undefined;
  return {
    hash: row.hash,
    session: row.session,
    spentAt: row.spent_at ?? undefined,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
  };
}
