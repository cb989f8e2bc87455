import type { Database } from "bun:sqlite";
import { keyText } from "../api/manifest-key.ts";
import { createCache } from "./cache.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { ImagePin, Transaction } from "./store.ts";

type Row = Omit<ImagePin, "digest"> & { digest: string | null };

const columns = 'kind, scope, name, hash, generation, ref, image_id as "imageId", digest, at';

/** Present pins kept in memory: every look at a resource asks for its own. */
const pinsCached = 20_000;

interface ImageNoun {
  images: Transaction["images"];
  /** Forgets one resource (its manifest was deleted), or all (writes were undone). */
  forget(id?: string): void;
}

/** Which image each resource runs on, with `pinsKept` former ones for rollbacks, and which images we pulled. */
export function createImages(db: Database, pinsKept: number): ImageNoun {
  const sql = prepare(db);
  const pins = createCache<{ pin: ImagePin | undefined }>(pinsCached);
  const images: Transaction["images"] = {
    pinOf: (key) =>
      pins.get(keyText(key), () => {
        const row = sql.current.get(...columnsOf(key));
        return { pin: row ? Object.freeze({ ...row, digest: row.digest ?? undefined }) : undefined };
      }).pin,
    kept: () => new Set(sql.kept.all().map((row) => row.image_id)),
    pulledList: () => sql.pulledList.all(),
    pin(pin) {
      const key = columnsOf(pin);
      sql.dropSame.run(...key, pin.hash, pin.generation);
      sql.insert.run(...key, pin.hash, pin.generation, pin.ref, pin.imageId, pin.digest ?? null, pin.at);
      sql.trim.run(...key, ...key, pinsKept);
      pins.drop(keyText(pin));
    },
    pulled(imageId, ref, now) {
      sql.pulled.run(imageId, ref, now);
    },
    forgetPulled(imageId) {
      sql.forgetPulled.run(imageId);
    },
  };
  return { images, forget: (id) => (id === undefined ? pins.clear() : pins.drop(id)) };
}

function prepare(db: Database) {
  return {
    current: db.query<Row, KeyColumns>(`select ${columns} from image_pins where ${whereKey} order by id desc limit 1`),
    kept: db.query<{ image_id: string }, []>(
      "select image_id from image_pins union select image_id from releases where good = 1 and image_id is not null",
    ),
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
