import type { Database } from "bun:sqlite";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction, VolumeRecord } from "./store.ts";

const columns = 'volume, kind, scope, name, claim, ordinal, created_at as "createdAt"';

/** Claim volumes that were made once; they outlive their manifest. */
export function createVolumes(db: Database): Transaction["volumes"] {
  const byVolume = db.query<VolumeRecord, [string]>(`select ${columns} from volumes where volume = ?`);
  const byKey = db.query<VolumeRecord, KeyColumns>(
    `select ${columns} from volumes where ${whereKey} order by ordinal, claim`,
  );
  const every = db.query<VolumeRecord, []>(`select ${columns} from volumes order by scope, name, ordinal, claim`);
  const upsert = db.query<unknown, [string, ...KeyColumns, string, number, number]>(
    "insert or replace into volumes (volume, kind, scope, name, claim, ordinal, created_at)" +
      " values (?, ?, ?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [string]>("delete from volumes where volume = ?");
  return {
    get: (volume) => byVolume.get(volume) ?? undefined,
    all: () => every.all(),
    list: (key) => byKey.all(...columnsOf(key)),
    put(record) {
      upsert.run(record.volume, ...columnsOf(record), record.claim, record.ordinal, record.createdAt);
    },
    remove(volume) {
      drop.run(volume);
    },
  };
}
