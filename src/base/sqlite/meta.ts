import type { Database } from "bun:sqlite";
import { Failure } from "../wire/failure.ts";
import type { Seal } from "./seal.ts";

/** Facts about the database itself. */
interface Meta {
  get(key: MetaKey): string | undefined;
  put(key: MetaKey, value: string): void;
  remove(key: MetaKey): void;
}

type MetaKey =
  "installation_id" | "key_check" | "collection_held" | "address_form" | "history_begins" | "restored_copy";

export function createMeta(db: Database): Meta {
  const select = db.query<{ value: string }, [string]>("select value from meta where key = ?");
  const upsert = db.query<unknown, [string, string]>("insert or replace into meta (key, value) values (?, ?)");
  const drop = db.query<unknown, [string]>("delete from meta where key = ?");
  return {
    get: (key) => select.get(key)?.value,
    put(key, value) {
      upsert.run(key, value);
    },
    remove(key) {
      drop.run(key);
    },
  };
}

const checkPlace = "meta\0key_check";

/** Refuses a key that is not the one the database was made with; a new database is bound to the key it first sees. */
export function bindKey(meta: Meta, seal: Seal, file: string): void {
  const check = meta.get("key_check");
  if (check === undefined) {
    meta.put("key_check", Buffer.from(seal.seal("key check", checkPlace)).toString("base64"));
    return;
  }
  try {
    seal.open(Buffer.from(check, "base64"), checkPlace);
  } catch (error) {
    const message = `the key file does not fit database "${file}": put the key it was made with back, or restore a backup with \`berth restore FILE\``;
    throw new Failure("conflict", message, { cause: error });
  }
}
