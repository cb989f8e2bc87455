/** The trigram index is a file of its own, made from the database and rebuilt whenever it is in doubt. */
export const indexSchema = /* sql */ `
create table if not exists meta (
  key text primary key,
  value text not null
) strict;

-- How far an instance's rows are in its index, and how many were put there.
create table if not exists progress (
  kind text not null,
  instance integer not null,
  upto integer not null,
  added integer not null,
  primary key (kind, instance)
) strict, without rowid;

-- Times of creation within a run of rows: what lies outside of what is looked for need not be read.
create table if not exists zones (
  kind text not null,
  instance integer not null,
  low integer not null,
  high integer not null,
  earliest integer not null,
  latest integer not null,
  primary key (kind, instance, low)
) strict, without rowid;
`;
