import type { Database } from "bun:sqlite";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { ImagePin, Transaction } from "./store.ts";

type Row = Omit<ImagePin, "digest"> & { digest: string | null };

const columns = 'kind, scope, name, hash, generation, ref, image_id as "imageId", digest, at';

/** Which image each resource runs on, with `pinsKept` former ones for rollbacks, and which images we pulled. */
export function createImages(db: Database, pinsKept: number): Transaction["images"] {
  const sql = prepare(db);
  return {
    pinOf(key) {
      const row = sql.current.get(...columnsOf(key));
      return row ? { ...row, digest: row.digest ?? undefined } : undefined;
    },
    kept: () => new Set(sql.kept.all().map((row) => row.image_id)),
    pulledList: () => sql.pulledList.all(),
    pin(pin) {
      const key = columnsOf(pin);
      sql.dropSame.run(...key, pin.hash, pin.generation);
      sql.insert.run(...key, pin.hash, pin.generation, pin.ref, pin.imageId, pin.digest ?? null, pin.at);
      sql.trim.run(...key, ...key, pinsKept);
    },
    pulled(imageId, ref, now) {
      sql.pulled.run(imageId, ref, now);
    },
    forgetPulled(imageId) {
      sql.forgetPulled.run(imageId);
    },
  };
}

function prepare(db: Database) {
  return {
    current: db.query<Row, KeyColumns>(`select ${columns} from image_pins where ${whereKey} order by id desc limit 1`),
    kept: db.query<{ image_id: string }, []>("select distinct image_id from image_pins"),
    pulledList: db.query<{ imageId: string; ref: string; at: number }, []>(
      'select image_id as "imageId", ref, at from pulled_images order by at, image_id',
    ),
    dropSame: db.query<unknown, [...KeyColumns, string, number]>(
      `delete from image_pins where ${whereKey} and hash = ? and generation = ?`,
    ),
    insert: db.query<unknown, [...KeyColumns, string, number, string, string, string | null, number]>(
      "insert into image_pins (kind, scope, name, hash, generation, ref, image_id, digest, at)" +
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    trim: db.query<unknown, [...KeyColumns, ...KeyColumns, number]>(
      `delete from image_pins where ${whereKey} and id not in` +
        ` (select id from image_pins where ${whereKey} order by id desc limit ?)`,
    ),
    pulled: db.query<unknown, [string, string, number]>(
      "insert or replace into pulled_images (image_id, ref, at) values (?, ?, ?)",
    ),
    forgetPulled: db.query<unknown, [string]>("delete from pulled_images where image_id = ?"),
  };
}
