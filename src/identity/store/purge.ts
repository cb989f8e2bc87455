import type { Database } from "bun:sqlite";

/** Removes what is of no use any more, at most `most` rows at a time; each returns how many went. */
export interface Purge {
  /** States, one-time values, refresh tokens and browsers whose time is over. */
  expired(now: number, most: number): number;
  /** Sessions that were revoked or ran out before then; what hangs on them goes too. */
  endedSessions(before: number, most: number): number;
  /** Removes revoked sessions of an instance beyond the newest `kept`. */
  revokedSessions(instance: number, kept: number, most: number): number;
  /** Mails that wait for nothing any more and are older. */
  mails(before: number, most: number): number;
}

const withExpiry = [
  ["oauth_states", "hash"],
  ["one_time", "hash"],
  ["refresh_chains", "id"],
  ["browsers", "hash"],
] as const;

export function createPurge(db: Database): Purge {
  const expired = withExpiry.map(([table, key]) =>
    db.query<unknown, [number, number]>(
      `delete from ${table} where ${key} in (select ${key} from ${table} where expires_at <= ? limit ?)`,
    ),
  );
  const sessionsBy = (column: string) =>
    db.query<unknown, [number, number]>(
      `delete from sessions where seq in (select seq from sessions where ${column} is not null and ${column} < ? limit ?)`,
    );
  const ended = [sessionsBy("revoked_at"), sessionsBy("expires_at")];
  const edge = db.query<{ revoked_at: number }, [number, number]>(
    "select revoked_at from sessions where instance = ? and revoked_at is not null order by revoked_at desc limit 1 offset ?",
  );
  const revoked = db.query<unknown, [number, number, number]>(
    "delete from sessions where seq in (select seq from sessions where instance = ? and revoked_at is not null" +
      " and revoked_at <= ? limit ?)",
  );
  const mails = db.query<unknown, [number, number]>(
    "delete from mails where seq in (select seq from mails where state <> 'waiting' and created_at < ? limit ?)",
  );
  return {
    expired: (now, most) => expired.reduce((sum, statement) => sum + statement.run(now, most).changes, 0),
    endedSessions: (before, most) => ended.reduce((sum, statement) => sum + statement.run(before, most).changes, 0),
    revokedSessions(instance, kept, most) {
      const last = edge.get(instance, kept);
      return last === null ? 0 : revoked.run(instance, last.revoked_at, most).changes;
    },
    mails: (before, most) => mails.run(before, most).changes,
  };
}
