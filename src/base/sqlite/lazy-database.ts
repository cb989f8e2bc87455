import { Database, type DatabaseOptions, type SQLQueryBindings, type Statement } from "bun:sqlite";

/**
 * A connection whose statements are prepared when they first run: a store has hundreds, of which a start needs few. What
 * SQLite refuses in a statement is thrown then.
 */
export function openLazily(file: string, options: DatabaseOptions): Database {
  return new LazyDatabase(file, options);
}

class LazyDatabase extends Database {
  // `never` fits every type of row, which only the caller knows.
  override query(sql: string): never {
    return new LazyStatement(() => super.query(sql)) as never;
  }
}

/** The part of a statement that stores use. */
class LazyStatement {
  readonly #prepare: () => Statement;
  #prepared: Statement | undefined;

  constructor(prepare: () => Statement) {
    this.#prepare = prepare;
  }

  get(...values: SQLQueryBindings[]): unknown {
    return this.#statement().get(...values);
  }

  all(...values: SQLQueryBindings[]): unknown[] {
    return this.#statement().all(...values);
  }

  run(...values: SQLQueryBindings[]): unknown {
    return this.#statement().run(...values);
  }

  iterate(...values: SQLQueryBindings[]): unknown {
    return this.#statement().iterate(...values);
  }

  finalize(): void {
    this.#prepared?.finalize();
    this.#prepared = undefined;
  }

  #statement(): Statement {
    this.#prepared ??= this.#prepare();
    return this.#prepared;
  }
}
