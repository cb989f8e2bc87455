import type { Database } from "bun:sqlite";
import type { RefreshChain } from "./records.ts";

interface Row {
  id: Uint8Array;
  session: number;
  generation: number;
  rotated_at: number;
  expires_at: number;
  created_at: number;
}

/** What there is to know of the refresh tokens of one exchange; the tokens themselves are not stored in any form. */
export interface RefreshChains {
  get(id: Uint8Array): RefreshChain | undefined;
  add(chain: RefreshChain): void;
  /** One token further. */
  rotate(id: Uint8Array, now: number): void;
  /** All of one session. */
  burn(session: number): void;
  /** All of one instance. */
  burnAll(instance: number): void;
}

export function createRefreshChains(db: Database): RefreshChains {
  const byId = db.query<Row, [Uint8Array]>("select * from refresh_chains where id = ?");
  const insert = db.query<unknown, [Uint8Array, number, number, number, number, number]>(
    "insert into refresh_chains (id, session, generation, rotated_at, expires_at, created_at) values (?, ?, ?, ?, ?, ?)",
  );
  const rotate = db.query<unknown, [number, Uint8Array]>(
    "update refresh_chains set generation = generation + 1, rotated_at = ? where id = ?",
  );
  const burn = db.query<unknown, [number]>("delete from refresh_chains where session = ?");
  const burnAll = db.query<unknown, [number]>(
    "delete from refresh_chains where session in (select seq from sessions where instance = ?)",
  );
  return {
    get: (id) => toChain(byId.get(id)),
    add({ id, session, generation, rotatedAt, expiresAt, createdAt }) {
      insert.run(id, session, generation, rotatedAt, expiresAt, createdAt);
    },
    rotate(id, now) {
      rotate.run(now, id);
    },
    burn(session) {
      burn.run(session);
    },
    burnAll(instance) {
      burnAll.run(instance);
    },
  };
}

function toChain(row: Row | null): RefreshChain | undefined {
  if (row === null) return undefined;
  const { id, session, generation } = row;
  return { id, session, generation, rotatedAt: row.rotated_at, expiresAt: row.expires_at, createdAt: row.created_at };
}
