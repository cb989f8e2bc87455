import type { Database } from "bun:sqlite";
import type { RefreshChain } from "./records.ts";

interface Row {
  id: Uint8Array;
  session: number;
  generation: number;
  spent: string;
  shared_at: number | null;
  expires_at: number;
  created_at: number;
}

/** What there is to know of the refresh tokens of one exchange; the tokens themselves are not stored in any form. */
export interface RefreshChains {
  get(id: Uint8Array): RefreshChain | undefined;
  add(chain: RefreshChain): void;
  /** Notes how far a chain has come. */
  move(id: Uint8Array, to: Pick<RefreshChain, "generation" | "spent" | "sharedAt">): void;
  /** All of one session. */
  burn(session: number): void;
  /** All of one instance. */
  burnAll(instance: number): void;
}

export function createRefreshChains(db: Database): RefreshChains {
  const byId = db.query<Row, [Uint8Array]>("select * from refresh_chains where id = ?");
  const insert = db.query<unknown, (Uint8Array | number | string | null)[]>(
    "insert into refresh_chains (id, session, generation, spent, shared_at, expires_at, created_at)" +
      " values (?, ?, ?, ?, ?, ?, ?)",
  );
  const move = db.query<unknown, [number, string, number | null, Uint8Array]>(
    "update refresh_chains set generation = ?, spent = ?, shared_at = ? where id = ?",
  );
  const burn = db.query<unknown, [number]>("delete from refresh_chains where session = ?");
  const burnAll = db.query<unknown, [number]>(
    "delete from refresh_chains where session in (select seq from sessions where instance = ?)",
  );
  return {
    get: (id) => toChain(byId.get(id)),
    add({ id, session, generation, spent, sharedAt, expiresAt, createdAt }) {
      insert.run(id, session, generation, JSON.stringify(spent), sharedAt ?? null, expiresAt, createdAt);
    },
    move(id, { generation, spent, sharedAt }) {
      move.run(generation, JSON.stringify(spent), sharedAt ?? null, id);
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
  const { id, session, generation, expires_at: expiresAt, created_at: createdAt } = row;
  const spent = JSON.parse(row.spent) as number[];
  return { id, session, generation, spent, sharedAt: row.shared_at ?? undefined, expiresAt, createdAt };
}
