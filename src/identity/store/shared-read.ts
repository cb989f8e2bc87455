import type { Database } from "bun:sqlite";

/** One read transaction for all that is read in the same turn of the event loop. */
export interface SharedRead {
  /** Begins it, unless it has begun. It ends by itself with the turn. Call it outside of a transaction. */
  begin(): void;
  /** Ends it now. Call it before a transaction begins, before a copy, and before the connection is closed. */
  end(): void;
}

/**
 * A statement that is left open at its first row. It keeps the lock on the log, for which SQLite otherwise asks the kernel
 * twice for each statement: that takes about as long as the look-up of a row in memory. A checkpoint waits for the lock, so
 * it must not last.
 */
export function createSharedRead(db: Database): SharedRead {
  const first = db.query<unknown, []>("select 1 from meta");
  let open: Iterator<unknown> | undefined;
  const end = () => {
    open?.return?.();
    open = undefined;
  };
  return {
    begin() {
      if (open !== undefined) return;
      open = first.iterate();
      setImmediate(end);
      open.next();
    },
    end,
  };
}
