/** The first schema of the observability plane. A released migration is never edited. */
export const first = /* sql */ `
create table meta (
  key text primary key,
  value text not null
) strict;

-- A token stays after its end, so that the audit trail can be read. Lists are JSON.
create table tokens (
  id text primary key,
  hash blob not null,
  name text,
  scopes text not null,
  apps text not null,
  networks text not null,
  created_at integer not null,
  created_by text not null,
  expires_at integer,
  last_used_at integer,
  last_used_ip text,
  last_used_agent text,
  revoked_at integer
) strict;

create table audit (
  seq integer primary key autoincrement,
  id text not null unique,
  at integer not null,
  actor text not null,
  ip text,
  action text not null,
  target text not null,
  params text not null,
  outcome text not null,
  duration_ms integer not null,
  request_id text not null
) strict;

create index audit_actor on audit (actor, seq);
`;
