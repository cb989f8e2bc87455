/** Images that were built from source, and the attempts at it. */
export const builds = /* sql */ `
create table builds (
  scope text not null,
  name text not null,
  id text not null,
  status text not null,
  context text not null,
  dockerfile text not null,
  target text,
  image text not null,
  image_id text,
  actor text not null,
  started_at integer not null,
  ended_at integer,
  error text,
  -- What it printed, its last part.
  log text not null,
  primary key (scope, name, id)
) strict, without rowid;
create index builds_by_time on builds (started_at);
`;
