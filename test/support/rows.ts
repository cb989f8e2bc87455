import { Database } from "bun:sqlite";
import type { World } from "./world.ts";

/** Every row of every table of the world's store, read past the store itself. */
export function rowsOf({ layout }: Pick<World, "layout">): Record<string, unknown[]> {
  const db = new Database(layout.database, { readonly: true });
  try {
    const tables = db.query<{ name: string }, []>("select name from sqlite_master where type = 'table' order by name");
    return Object.fromEntries(tables.all().map(({ name }) => [name, db.query(`select * from "${name}"`).all()]));
  } finally {
    db.close();
  }
}

const reads = ["observe", "inspect", "inspectImage", "inspectVolume", "listVolumes", "listImages", "freeBytes", "info"];

/** The calls that could have changed something on the machine. */
export function changesIn({ runtime }: Pick<World, "runtime">): string[] {
  return runtime.calls.filter((call) => !reads.includes(call.split(" ", 1)[0] ?? "") && call !== "events");
}
