import type { Database } from "bun:sqlite";

/** One row of the table of series. */
export interface SeriesRow {
  id: number;
  key: string;
  createdAt: number;
  seenAt: number;
}

export function seriesRows(db: Database) {
  const add = db.query<{ id: number }, [string, number, number]>(
    "insert into series (key, created_at, seen_at) values (?, ?, ?)" +
      " on conflict (key) do update set seen_at = excluded.seen_at returning id",
  );
  const see = db.query<unknown, [number, number]>("update series set seen_at = ? where id = ?");
  const forget = db.query<{ id: number }, [number]>(
    "delete from series where seen_at < ? and id not in (select distinct series from chunks) returning id",
  );
  return {
    series: () =>
      db
        .query<SeriesRow, []>("select id, key, created_at as createdAt, seen_at as seenAt from series order by id")
        .all(),
    addSeries(key: string, at: number): number {
      const row = add.get(key, at, at);
      if (row === null) throw new Error("a series was not stored");
      return row.id;
    },
    seen(ids: readonly number[], at: number): void {
      for (const id of ids) see.run(at, id);
    },
    forgetSeries: (before: number) => forget.all(before).map(({ id }) => id),
  };
}
