import type { Database } from "bun:sqlite";

/** A container that was a replica, and when. */
export interface ReplicaRow {
  container: string;
  kind: string;
  scope: string;
  name: string;
  /** The place that its series have. */
  replica: string;
  replicaId: string;
  beganAt: number;
  seenAt: number;
}

export interface ReplicaRows {
  put(row: ReplicaRow): void;
  /** Those that were there at some time of the span, oldest first. */
  between(from: number, to: number): ReplicaRow[];
  named(container: string): ReplicaRow[];
  /** Forgets those that ended before `before`, and the oldest beyond `kept`. */
  trim(before: number, kept: number): void;
}

const columns =
  "container, kind, scope, name, replica, replica_id as replicaId, began_at as beganAt, seen_at as seenAt";

export function replicaRows(db: Database): ReplicaRows {
  const put = db.query<unknown, (string | number)[]>(
    "insert into replicas (container, kind, scope, name, replica, replica_id, began_at, seen_at)" +
      " values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (container, began_at) do update set seen_at = excluded.seen_at",
  );
  const between = db.query<ReplicaRow, [number, number]>(
    `select ${columns} from replicas where began_at <= ? and seen_at >= ? order by began_at`,
  );
  const named = db.query<ReplicaRow, [string]>(`select ${columns} from replicas where container = ? order by began_at`);
  return {
    put({ container, kind, scope, name, replica, replicaId, beganAt, seenAt }) {
      put.run(container, kind, scope, name, replica, replicaId, beganAt, seenAt);
    },
    between: (from, to) => between.all(to, from),
    named: (container) => named.all(container),
    trim(before, kept) {
      db.query("delete from replicas where seen_at < ?").run(before);
      db.query(
        "delete from replicas where (container, began_at) in" +
          " (select container, began_at from replicas order by seen_at desc limit -1 offset ?)",
      ).run(kept);
    },
  };
}
