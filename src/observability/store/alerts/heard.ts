import type { Database } from "bun:sqlite";

/** Alerts that a channel heard of, or may have, and whose end it has not got yet. */
export interface Heard {
  has(channel: string, alert: string): boolean;
  /** The group that an alert was in when the channel heard of it: a rule can group its alerts otherwise meanwhile. */
  group(channel: string, alert: string): string | undefined;
  /** The alerts of a group that a channel takes to fire. */
  ofGroup(channel: string, group: string): string[];
  add(channel: string, alert: string): void;
  remove(channel: string, alert: string): void;
  /** Drops those whose alert is not on record any more. */
  trim(): void;
}

export function createHeard(db: Database): Heard {
  const group = db.query<{ group_key: string }, [string, string]>(
    "select group_key from alert_heard where channel = ? and alert = ?",
  );
  const ofGroup = db.query<{ alert: string }, [string, string]>(
    "select alert from alert_heard where channel = ? and group_key = ?",
  );
  // From the tables, because either may be gone by now.
  const add = db.query<unknown, [string, string]>(
    "insert or ignore into alert_heard select c.name, a.id, a.group_key from alert_channels as c, alerts as a" +
      " where c.name = ? and a.id = ?",
  );
  const remove = db.query<unknown, [string, string]>("delete from alert_heard where channel = ? and alert = ?");
  const trim = db.query<unknown, []>("delete from alert_heard where alert not in (select id from alerts)");
  return {
    has: (channel, alert) => group.get(channel, alert) !== null,
    group: (channel, alert) => group.get(channel, alert)?.group_key,
    ofGroup: (channel, group) => ofGroup.all(channel, group).map(({ alert }) => alert),
    add(channel, alert) {
      add.run(channel, alert);
    },
    remove(channel, alert) {
      remove.run(channel, alert);
    },
    trim() {
      trim.run();
    },
  };
}
