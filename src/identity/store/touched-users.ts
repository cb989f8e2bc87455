import type { Database } from "bun:sqlite";

/** Users by number, each once; `all` where there are more than is worth telling. */
export type Touched = readonly number[] | "all";

interface TouchedUsers {
  /** Those whom the last commit has touched. Call it right after a commit. */
  take(): {
    /** Who, or a session of whom, was changed or removed. */
    changed: Touched;
    /** To whom an account of a provider was connected, or from whom it was taken. Apart, for an import joins many. */
    joined: Touched;
  };
}

const toldMax = 1_000;

/**
 * SQLite itself keeps the lists, for this connection alone: no statement can be forgotten, be it a purge, an import or
 * what a removed instance takes along, and what is rolled back is not on them.
 */
export function followUsers(db: Database): TouchedUsers {
  // A list of a few numbers must not need room on a disk, which a deletion may be about to make.
  db.run("pragma temp_store = memory");
  const changed = createList(db, "changed");
  const joined = createList(db, "joined");
  for (const event of ["update", "delete"]) {
    changed.note("users", event, "old.seq");
    changed.note("sessions", event, "old.user");
    joined.note("identities", event, "old.user");
  }
  joined.note("identities", "insert", "new.user");
  return { take: () => ({ changed: changed.take(), joined: joined.take() }) };
}

function createList(db: Database, name: string) {
  db.run(`create temp table ${name} (user integer primary key) strict`);
  const some = db.query<{ user: number }, [number]>(`select user from temp.${name} limit ?`);
  const forget = db.query<unknown, []>(`delete from temp.${name}`);
  return {
    note(table: string, event: string, user: string): void {
      const add = `insert or ignore into ${name} values (${user});`;
      db.run(`create temp trigger ${table}_${event} after ${event} on main.${table} begin ${add} end`);
    },
    take(): Touched {
      const users = some.all(toldMax + 1);
      if (users.length === 0) return [];
      forget.run();
      return users.length > toldMax ? "all" : users.map(({ user }) => user);
    },
  };
}
