/**
 * Each state that was wanted, one row per change: the newest ones, and for every resource the last one before these.
 * `spec` is null for a delete; `children` is set for blocks of plugins. What is stored at the migration is where the
 * history begins.
 */
export const history = /* sql */ `
create table history (
  seq integer primary key autoincrement,
  at integer not null,
  kind text not null,
  scope text not null,
  name text not null,
  bytes integer not null,
  revision integer,
  actor text not null,
  action text not null,
  detail text,
  children text,
  sealed integer not null,
  spec any
) strict;
create index history_key on history (kind, scope, name, seq);
insert into history (at, kind, scope, name, bytes, revision, actor, action, children, sealed, spec)
  select updated_at, kind, scope, name, length(spec), revision, 'server', 'history.begin', null, sealed, spec
  from manifests order by updated_at;
insert into history (at, kind, scope, name, bytes, revision, actor, action, children, sealed, spec)
  select updated_at, kind, scope, name, length(spec), revision, 'server', 'history.begin', (
    select json_group_array(json_object('kind', kind, 'scope', scope, 'name', name)) from block_children
    where block_kind = blocks.kind and block_scope = blocks.scope and block_name = blocks.name and by_action = 0
  ), 1, spec
  from blocks order by updated_at;
insert into meta (key, value)
  select 'history_begins', json_object('at', cast(unixepoch('subsec') * 1000 as integer), 'seq', max(seq))
  from history having count(*) > 0;
`;
