import type { Database } from "bun:sqlite";

/**
 * Reads that come in one turn of the event loop share a transaction: SQLite takes and gives back the locks of its log
 * once for all of them, and not with each statement. Nothing else can commit in between, so they miss nothing.
 */
export interface ReadTurn {
  /** Call it before a read. */
  enter(): void;
  /** Call it before anything that begins a transaction or needs to be outside of one. */
  end(): void;
}

export function createReadTurn(db: Database): ReadTurn {
  const begin = db.query<unknown, []>("begin");
  const commit = db.query<unknown, []>("commit");
  let open = false;
  const end = () => {
    if (!open) return;
    open = false;
    commit.run();
  };
  return {
    enter() {
      if (open || db.inTransaction) return;
      begin.run();
      open = true;
      setImmediate(end);
    },
    end,
  };
}
