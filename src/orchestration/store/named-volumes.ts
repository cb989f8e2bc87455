import type { Database } from "bun:sqlite";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { NamedVolumeRecord, Transaction } from "./store.ts";

const columns = 'kind, scope, name, owner, volume, plain, created_at as "createdAt"';

type Row = Omit<NamedVolumeRecord, "plain"> & { plain: number };

/** Which resource uses which volume that manifests name; rows outlive their manifest. */
export function createNamedVolumes(db: Database): Transaction["namedVolumes"] {
  const byKey = db.query<Row, KeyColumns>(`select ${columns} from named_volumes where ${whereKey} order by volume`);
  const byVolume = db.query<Row, [string, string]>(
    `select ${columns} from named_volumes where volume = ? and owner = ? order by scope, name, kind`,
  );
  const plainOnes = db.query<Row, [string]>(
    `select ${columns} from named_volumes where volume = ? and plain = 1 order by scope, name, kind`,
  );
  const every = db.query<Row, []>(`select ${columns} from named_volumes order by scope, name, kind, volume`);
  const insert = db.query<unknown, [...KeyColumns, string, string, number, number]>(
    "insert or ignore into named_volumes (kind, scope, name, owner, volume, plain, created_at)" +
      " values (?, ?, ?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [...KeyColumns, string, string]>(
    `delete from named_volumes where ${whereKey} and owner = ? and volume = ?`,
  );
  return {
    list: (key) => byKey.all(...columnsOf(key)).map(recordOf),
    users: (owner, volume) => byVolume.all(volume, owner).map(recordOf),
    plainUsers: (volume) => plainOnes.all(volume).map(recordOf),
    isPlain: (owner, volume) => byVolume.all(volume, owner).some(({ plain }) => plain === 1),
    all: () => every.all().map(recordOf),
    put({ owner, volume, plain, createdAt, ...key }) {
      insert.run(...columnsOf(key), owner, volume, plain ? 1 : 0, createdAt);
    },
    remove(key, { owner, volume }) {
      drop.run(...columnsOf(key), owner, volume);
    },
  };
}

function recordOf(row: Row): NamedVolumeRecord {
  return { ...row, plain: row.plain === 1 };
}
