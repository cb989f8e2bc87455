/**
 * State that earlier versions kept in the status, as rows: what the last look at a resource came to, what its probes had
 * said, restarts that the engine does not count any more, files of assets, schedules of cron jobs. An asset whose last
 * round had failed is looked at as if it was never looked at, as before.
 */
export const statusState = /* sql */ `
create table looks (
  kind text not null,
  scope text not null,
  name text not null,
  phase text not null,
  revision integer not null,
  generation integer not null,
  replicas integer not null,
  error text,
  unready text,
  good_generation integer,
  good_replicas integer,
  halted_generation integer,
  halted_reason text,
  primary key (kind, scope, name)
) strict, without rowid;
insert into looks
  select kind, scope, name, status ->> '$.phase',
    coalesce(status ->> '$.observed_revision', 0), coalesce(status ->> '$.observed_generation', 0),
    coalesce(status ->> '$.replicas', 0), status ->> '$.last_reconcile_error',
    case when status ->> '$.phase' in ('stopped', 'failing', 'failed') then (
      select condition.value ->> '$.message' from json_each(status, '$.conditions') as condition
      where condition.value ->> '$.type' = 'Ready' limit 1
    ) end,
    coalesce(status ->> '$.halted.good_generation', status ->> '$.good_generation'), status ->> '$.good_replicas',
    status ->> '$.halted.generation', status ->> '$.halted.reason'
  from status
  where kind in ('deployment', 'statefulset') and status ->> '$.phase' is not null;

create table probe_readiness (
  kind text not null,
  scope text not null,
  name text not null,
  pod text not null,
  startup_passed integer not null,
  readiness text not null,
  at integer not null,
  primary key (kind, scope, name, pod)
) strict, without rowid;
insert into probe_readiness
  select kind, scope, name, pod.key, coalesce(pod.value ->> '$.startup_passed', 0),
    coalesce(pod.value ->> '$.readiness_phase', 'unknown'),
    cast(round(unixepoch(pod.value ->> '$.last_transition', 'subsec') * 1000) as integer)
  from status, json_each(status.status, '$.replica_readiness') as pod
  where unixepoch(pod.value ->> '$.last_transition') is not null;

create table earlier_restarts (
  kind text not null,
  scope text not null,
  name text not null,
  container text not null,
  count integer not null,
  primary key (kind, scope, name, container)
) strict, without rowid;
insert into earlier_restarts
  select kind, scope, name, restarts.key, restarts.value
  from status, json_each(status.status, '$.earlier_restarts') as restarts;

create table asset_files (
  kind text not null,
  scope text not null,
  name text not null,
  revision integer not null,
  files text not null,
  errors text not null,
  at integer not null,
  primary key (kind, scope, name)
) strict, without rowid;
insert into asset_files
  select kind, scope, name,
    case when status ->> '$.phase' = 'failing' and status -> '$.errors' = '{}' then 0
      else coalesce(status ->> '$.observed_revision', 0) end,
    status -> '$.files', coalesce(status -> '$.errors', '{}'),
    coalesce(cast(round(unixepoch(status ->> '$.materialised_at', 'subsec') * 1000) as integer), 0)
  from status
  where kind = 'asset' and json_type(status, '$.files') = 'object';

create table seen_schedules (
  kind text not null,
  scope text not null,
  name text not null,
  expression text not null,
  timezone text not null,
  suspended integer not null,
  since integer not null,
  decided_until integer,
  primary key (kind, scope, name)
) strict, without rowid;
insert into seen_schedules
  select kind, scope, name, status ->> '$.seen.expression', status ->> '$.seen.timezone',
    coalesce(status ->> '$.seen.suspended', 0), status ->> '$.seen.since', status ->> '$.seen.decidedUntil'
  from status
  where kind = 'cronjob' and json_type(status, '$.seen') = 'object';
update status set status = json_remove(status, '$.seen') where kind = 'cronjob';
`;
