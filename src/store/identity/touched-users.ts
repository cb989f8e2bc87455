import type { Database } from "bun:sqlite";

/** Which users, or sessions of theirs, the last commit has changed or removed. */
export interface TouchedUsers {
  /** Their numbers, each once; `all` where there are more than is worth telling. Call it right after a commit. */
  take(): readonly number[] | "all";
}

const toldMax = 1_000;

/**
 * SQLite itself keeps the list, for this connection alone: no statement can be forgotten, be it a purge, an import or
 * what a removed instance takes along, and what is rolled back is not on it.
 */
export function followUsers(db: Database): TouchedUsers {
  // A list of a few numbers must not need room on a disk, which a deletion may be about to make.
  db.run("pragma temp_store = memory");
  db.run("create temp table touched (user integer primary key) strict");
  for (const event of ["update", "delete"]) {
    db.run(`create temp trigger users_${event} after ${event} on main.users begin ${note("old.seq")} end`);
    db.run(`create temp trigger sessions_${event} after ${event} on main.sessions begin ${note("old.user")} end`);
  }
  const some = db.query<{ user: number }, [number]>("select user from temp.touched limit ?");
  const forget = db.query<unknown, []>("delete from temp.touched");
  return {
    take() {
      const users = some.all(toldMax + 1);
      if (users.length === 0) return [];
      forget.run();
      return users.length > toldMax ? "all" : users.map(({ user }) => user);
    },
  };
}

function note(user: string): string {
  return `insert or ignore into touched values (${user});`;
}
