import type { Database } from "bun:sqlite";
import { keyText } from "../api/manifest-key.ts";
import { createCache } from "./cache.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { ImagePin, ImageReads, ImageWrites } from "./image-records.ts";

type Row = Omit<ImagePin, "digest"> & { digest: string | null };

const columns = 'kind, scope, name, hash, generation, ref, image_id as "imageId", digest, at';

/** Present pins kept in memory: every look at a resource asks for its own. */
const pinsCached = 20_000;

interface ImageNoun {
  images: ImageReads & ImageWrites;
  /** Forgets one resource (its manifest was deleted), or all (writes were undone). */
  forget(id?: string): void;
}

/** Which image each resource runs on, with `pinsKept` former ones for rollbacks, and which images we pulled. */
export function createImages(db: Database, pinsKept: number): ImageNoun {
  const sql = prepare(db);
  const pins = createCache<{ pin: ImagePin | undefined }>(pinsCached);
  const images: ImageReads & ImageWrites = {
    pinOf: (key) =>
      pins.get(keyText(key), () => {
        const row = sql.current.get(...columnsOf(key));
        return { pin: row ? Object.freeze({ ...row, digest: row.digest ?? undefined }) : undefined };
      }).pin,
    pinOfSpec(key, hash) {
      const row = sql.ofSpec.get(...columnsOf(key), hash);
      return row ? { ...row, digest: row.digest ?? undefined } : undefined;
    },
    initImageOf: (key, hash, ref) => sql.initImage.get(...columnsOf(key), hash, ref)?.image_id,
    digestOf: (imageId) => sql.digest.get(imageId)?.digest,
    kept: () => new Set(sql.kept.all().map((row) => row.imageId)),
    keptFor: () => sql.kept.all(),
    pulledList: () => sql.pulledList.all(),
    pin(pin) {
      const key = columnsOf(pin);
      sql.dropSame.run(...key, pin.hash, pin.generation);
      sql.insert.run(...key, pin.hash, pin.generation, pin.ref, pin.imageId, pin.digest ?? null, pin.at);
      sql.trim.run(...key, ...key, pinsKept);
      pins.drop(keyText(pin));
    },
    pinInit({ hash, ref, imageId, ...key }) {
      sql.pinInit.run(...columnsOf(key), hash, ref, imageId);
    },
    knowDigest(imageId, digest) {
      sql.knowDigest.run(imageId, digest);
    },
    trim() {
      sql.trimInits.run();
      sql.trimDigests.run();
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

/** What a replica may be made from now or after a rollback, inits included. */
const keptRows =
  "select scope, name, image_id from image_pins" +
  " union select scope, name, image_id from releases where good = 1 and image_id is not null" +
  " union select scope, name, image_id from init_images";

function prepare(db: Database) {
  return {
    current: db.query<Row, KeyColumns>(`select ${columns} from image_pins where ${whereKey} order by id desc limit 1`),
    ofSpec: db.query<Row, [...KeyColumns, string]>(
      `select ${columns} from image_pins where ${whereKey} and hash = ? order by id desc limit 1`,
    ),
    initImage: db.query<{ image_id: string }, [...KeyColumns, string, string]>(
      `select image_id from init_images where ${whereKey} and hash = ? and ref = ?`,
    ),
    pinInit: db.query<unknown, [...KeyColumns, string, string, string]>(
      "insert or replace into init_images (kind, scope, name, hash, ref, image_id) values (?, ?, ?, ?, ?, ?)",
    ),
    digest: db.query<{ digest: string }, [string]>("select digest from image_digests where image_id = ?"),
    knowDigest: db.query<unknown, [string, string]>(
      "insert or replace into image_digests (image_id, digest) values (?, ?)",
    ),
    trimInits: db.query<unknown, []>(
      "delete from init_images where (kind, scope, name, hash) not in" +
        " (select kind, scope, name, hash from image_pins union select kind, scope, name, hash from releases)",
    ),
    trimDigests: db.query<unknown, []>(
      `delete from image_digests where image_id not in (select image_id from (${keptRows}))` +
        " and image_id not in (select image_id from pulled_images)",
    ),
    kept: db.query<{ scope: string; name: string; imageId: string }, []>(
      `select distinct scope, name, image_id as "imageId" from (${keptRows})`,
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
