/** Where lines of pods are sent to, and how far. A released migration is never edited. */
export const logDrains = /* sql */ `
-- target: sealed JSON. at and skip: the lines before this place were delivered. Times are epoch milliseconds.
create table log_drains (
  name text primary key,
  target blob not null,
  apps text not null,
  level text,
  created_at integer not null,
  at integer not null,
  skip integer not null,
  delivered integer not null default 0
) strict, without rowid;
`;
