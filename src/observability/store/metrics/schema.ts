/** Released steps are never edited. Deleted rows give their pages back to the disk: see `openArchiveDatabase`. */
export const metricMigrations: readonly string[] = [
  `
  create table series (
    id integer primary key,
    key text not null unique,
    created_at integer not null,
    seen_at integer not null
  ) strict;
  -- What has been sampled and is not in chunks yet: one row for all series.
  create table tail (at integer primary key, data blob not null) strict;
  -- In the order of time, so that new rows come at the end and old ones go from the beginning.
  create table chunks (
    tier integer not null,
    place integer not null,
    series integer not null,
    data blob not null,
    primary key (tier, place, series)
  ) strict, without rowid;
  create table facts (name text primary key, value integer not null) strict, without rowid;
  -- Which container was a replica, and when.
  create table replicas (
    container text not null,
    kind text not null,
    scope text not null,
    name text not null,
    replica text not null,
    replica_id text not null,
    began_at integer not null,
    seen_at integer not null,
    primary key (container, began_at)
  ) strict, without rowid;
  `,
];
