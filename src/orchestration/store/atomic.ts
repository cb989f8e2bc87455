import type { Database } from "bun:sqlite";
import type { AtomicApply } from "./atomic-records.ts";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Transaction } from "./store.ts";

interface Row {
  id: string;
  actor: string;
  state: AtomicApply["state"];
  started_at: number;
  ended_at: number | null;
  told: Uint8Array;
}

type Told = Pick<AtomicApply, "error" | "failed" | "members">;

interface AtomicNoun {
  atomic: Transaction["atomic"];
  /** Forgets what was read from writes that were undone. */
  forget(): void;
}

/** Applies that go back as a whole, the newest `kept`; those that wait are kept beyond it. */
export function createAtomic(db: Database, seal: Seal, kept: number): AtomicNoun {
  const sql = prepare(db);
  /** Asked after every round of the reconciler, and nearly always so. */
  let noneWaits = false;
  const open = (row: Row) => toApply(row, JSON.parse(seal.open(row.told, placeOf(row.id))));
  return {
    atomic: {
      get(id) {
        const row = sql.byId.get(id);
        return row === null ? undefined : open(row);
      },
      waiting() {
        if (noneWaits) return [];
        const rows = sql.waiting.all();
        noneWaits = rows.length === 0;
        return rows.map(open);
      },
      put({ id, actor, state, startedAt, endedAt, error, failed, members }) {
        const told: Told = { error, failed, members };
        const sealed = seal.seal(JSON.stringify(told), placeOf(id));
        sql.upsert.run(id, actor, state, startedAt, endedAt ?? null, sealed);
        sql.trim.run(kept);
        noneWaits = false;
      },
    },
    forget() {
      noneWaits = false;
    },
  };
}

function prepare(db: Database) {
  return {
    byId: db.query<Row, [string]>("select * from atomic_applies where id = ?"),
    waiting: db.query<Row, []>("select * from atomic_applies where state = 'waiting' order by seq"),
    upsert: db.query<unknown, (string | number | Uint8Array | null)[]>(
      "insert into atomic_applies (id, actor, state, started_at, ended_at, told) values (?, ?, ?, ?, ?, ?)" +
        " on conflict (id) do update set state = excluded.state, ended_at = excluded.ended_at, told = excluded.told",
    ),
    trim: db.query<unknown, [number]>(
      "delete from atomic_applies where seq <= (select max(seq) from atomic_applies) - ? and state <> 'waiting'",
    ),
  };
}

function placeOf(id: string): string {
  return ["atomic_applies", id, "told"].join("\0");
}

function toApply(row: Row, { error, failed, members }: Told): AtomicApply {
  return {
    id: row.id,
    actor: row.actor,
    state: row.state,
    startedAt: row.started_at,
    endedAt: row.ended_at ?? undefined,
    error,
    ...(failed === undefined ? {} : { failed }),
    members,
  };
}
