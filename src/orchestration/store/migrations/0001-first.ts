/** The first schema. A released migration is never edited. */
export const first = /* sql */ `
-- One row: the highest revision or generation whose row is gone. See versions.ts.
create table counter (
  id integer primary key check (id = 1),
  revision integer not null
) strict;
insert into counter (id, revision) values (1, 0);

create table meta (
  key text primary key,
  value text not null
) strict;

-- spec is canonical JSON; sealed says whether some of its strings are sealed.
create table manifests (
  id integer primary key,
  kind text not null,
  scope text not null,
  name text not null,
  spec text not null,
  sealed integer not null,
  revision integer not null,
  generation integer not null,
  created_at integer not null,
  updated_at integer not null
) strict;
create unique index manifests_by_key on manifests (kind, scope, name);
create index manifests_by_name on manifests (scope, name);

create table claims (
  claim text not null,
  owner text not null,
  kind text not null,
  scope text not null,
  name text not null
) strict;
create unique index claims_by_claim on claims (claim, owner, kind, scope, name);
create index claims_by_key on claims (kind, scope, name);

create table dependencies (
  target text not null,
  kind text not null,
  scope text not null,
  name text not null
) strict;
create unique index dependencies_by_target on dependencies (target, kind, scope, name);
create index dependencies_by_key on dependencies (kind, scope, name);

-- name is empty for the scope level; value is sealed.
create table config (
  id integer primary key,
  scope text not null,
  name text not null,
  key text not null,
  value blob not null,
  updated_at integer not null
) strict;
create unique index config_by_key on config (scope, name, key);

create table status (
  id integer primary key,
  kind text not null,
  scope text not null,
  name text not null,
  status text not null
) strict;
create unique index status_by_key on status (kind, scope, name);

create table frozen (
  kind text not null,
  scope text not null,
  name text not null,
  replica_id text not null,
  at integer not null
) strict;
create unique index frozen_by_key on frozen (kind, scope, name, replica_id);

create table events (
  seq integer primary key,
  at integer not null,
  actor text not null,
  action text not null,
  kind text,
  scope text,
  name text,
  revision integer,
  detail text
) strict;
create index events_by_name on events (scope, name);

create table deletions (
  kind text not null,
  scope text not null,
  name text not null,
  at integer not null,
  prune integer not null
) strict;
create unique index deletions_by_key on deletions (kind, scope, name);

create table volumes (
  volume text primary key,
  kind text not null,
  scope text not null,
  name text not null,
  claim text not null,
  ordinal integer not null,
  created_at integer not null
) strict;
create index volumes_by_key on volumes (kind, scope, name);

create table image_pins (
  id integer primary key,
  kind text not null,
  scope text not null,
  name text not null,
  hash text not null,
  generation integer not null,
  ref text not null,
  image_id text not null,
  digest text,
  at integer not null
) strict;
create index image_pins_by_key on image_pins (kind, scope, name);

create table pulled_images (
  image_id text primary key,
  ref text not null,
  at integer not null
) strict;

create table operations (
  seq integer primary key,
  id text not null,
  type text not null,
  kind text not null,
  scope text not null,
  name text not null,
  generation integer not null,
  started_at integer not null
) strict;
create unique index operations_by_id on operations (id);
`;
