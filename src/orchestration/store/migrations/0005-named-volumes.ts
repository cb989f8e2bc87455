/** Volumes that manifests name belong to their scope. Those of before keep the name that they have in the engine. */
export const namedVolumes = /* sql */ `
-- Who uses the volume of which scope (owner); rows outlive their manifest, as the volumes do. plain: in the engine the
-- volume has this very name, and not one that holds the scope.
create table named_volumes (
  kind text not null,
  scope text not null,
  name text not null,
  owner text not null,
  volume text not null,
  plain integer not null,
  created_at integer not null
) strict;
create unique index named_volumes_by_key on named_volumes (kind, scope, name, owner, volume);
create index named_volumes_by_volume on named_volumes (volume, owner);
create index named_volumes_by_scope on named_volumes (scope, name);

insert or ignore into named_volumes (kind, scope, name, owner, volume, plain, created_at)
select kind, scope, name, scope, substr(entry, 1, instr(entry, ':') - 1), 1, at
from (
  select kind, scope, name, updated_at as at, entries.value as entry
  from manifests, json_each(manifests.spec, iif(kind = 'cronjob', '$.job.volumes', '$.volumes')) as entries
  where kind in ('deployment', 'statefulset', 'job', 'cronjob') and entries.type = 'text'
  union all
  select kind, scope, name, started_at, entries.value
  from releases, json_each(releases.spec, '$.volumes') as entries
  where entries.type = 'text'
)
where instr(entry, ':') > 1 and substr(entry, 1, 1) not in ('/', '$');
`;
