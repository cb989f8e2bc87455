/** What happened to resources: releases, runs, deaths, webhook calls; and what the autoscaler decided. */
export const second = /* sql */ `
-- spec is canonical JSON; sealed says whether some of its strings are sealed.
create table releases (
  seq integer primary key,
  id text not null,
  kind text not null,
  scope text not null,
  name text not null,
  status text not null,
  cause text not null,
  good integer not null,
  hash text not null,
  revision integer not null,
  image text not null,
  image_id text,
  rolled_back_from text,
  started_at integer not null,
  ended_at integer,
  pre_exit_code integer,
  exit_code integer,
  post_exit_code integer,
  error text,
  spec text not null,
  sealed integer not null,
  log text not null
) strict;
create unique index releases_by_id on releases (id);
create index releases_by_key on releases (kind, scope, name);
create index releases_unfinished on releases (seq) where status in ('pending', 'running');

-- tail is a JSON list of lines.
create table runs (
  seq integer primary key,
  id text not null,
  kind text not null,
  scope text not null,
  name text not null,
  status text not null,
  triggered_by text not null,
  instant integer,
  attempt integer not null,
  started_at integer,
  ended_at integer,
  exit_code integer,
  error text,
  tail text not null
) strict;
create unique index runs_by_id on runs (id);
create unique index runs_by_instant on runs (kind, scope, name, instant) where instant is not null;
create index runs_by_key on runs (kind, scope, name);
create index runs_unfinished on runs (seq) where status in ('scheduled', 'running');

-- The newest instant that ever had a run: it must outlive the run, or the instant would come again.
create table last_instants (
  kind text not null,
  scope text not null,
  name text not null,
  instant integer not null
) strict;
create unique index last_instants_by_key on last_instants (kind, scope, name);

create table autoscale (
  kind text not null,
  scope text not null,
  name text not null,
  replicas integer not null,
  last_up_at integer,
  last_down_at integer
) strict;
create unique index autoscale_by_key on autoscale (kind, scope, name);

-- logs and probes are JSON lists of lines.
create table deaths (
  seq integer primary key,
  kind text not null,
  scope text not null,
  name text not null,
  replica_id text not null,
  container_id text not null,
  at integer not null,
  exit_code integer,
  oom_killed integer not null,
  reason text not null,
  image text not null,
  hash text not null,
  release_id text,
  logs text not null,
  probes text not null
) strict;
create unique index deaths_by_container on deaths (container_id, at);
create index deaths_by_key on deaths (kind, scope, name, at);
create index deaths_by_age on deaths (at);

-- headers is a sealed JSON object.
create table deliveries (
  seq integer primary key,
  id text not null,
  kind text not null,
  scope text not null,
  name text not null,
  event text not null,
  url text not null,
  method text not null,
  headers blob not null,
  body text not null,
  status text not null,
  attempts integer not null,
  next_at integer not null,
  created_at integer not null,
  last_result text
) strict;
create unique index deliveries_by_id on deliveries (id);
create index deliveries_by_key on deliveries (kind, scope, name);
create index deliveries_due on deliveries (next_at) where status = 'waiting';
`;
