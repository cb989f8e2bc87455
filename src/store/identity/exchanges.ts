import type { Database } from "bun:sqlite";

/** When a sign-in token was exchanged. Times are epoch milliseconds. */
export interface Exchange {
  /** Names the token within the whole store. */
  jti: string;
  session: number;
  at: number;
  /** Of the sign-in token: afterwards nobody can exchange it anyway. */
  expiresAt: number;
}

interface Row {
  jti: string;
  session: number;
  at: number;
  expires_at: number;
}

export interface Exchanges {
  get(jti: string): Exchange | undefined;
  add(exchange: Exchange): void;
  /** Drops what has expired, at most `most`; returns how many went. */
  purge(now: number, most: number): number;
}

export function createExchanges(db: Database): Exchanges {
  const byJti = db.query<Row, [string]>("select * from exchanges where jti = ?");
  const insert = db.query<unknown, [string, number, number, number]>(
    "insert into exchanges (jti, session, at, expires_at) values (?, ?, ?, ?)",
  );
  const purge = db.query<unknown, [number, number]>(
    "delete from exchanges where jti in (select jti from exchanges where expires_at <= ? limit ?)",
  );
  return {
    get(jti) {
      const row = byJti.get(jti);
      return row === null ? undefined : { jti, session: row.session, at: row.at, expiresAt: row.expires_at };
    },
    add({ jti, session, at, expiresAt }) {
      insert.run(jti, session, at, expiresAt);
    },
    purge: (now, most) => purge.run(now, most).changes,
  };
}
