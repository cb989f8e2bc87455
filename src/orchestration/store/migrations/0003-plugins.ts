/** What plugins did: their runs, the blocks that they expanded, and what came of those. */
export const third = /* sql */ `
-- told is a sealed JSON object of what may hold secrets: arguments, labels, error text, last lines of stderr.
create table plugin_runs (
  seq integer primary key,
  id text not null,
  plugin text not null,
  version text not null,
  command text not null,
  actor text not null,
  status text not null,
  started_at integer not null,
  ended_at integer,
  exit_code integer,
  told blob not null
) strict;
create unique index plugin_runs_by_id on plugin_runs (id);
create index plugin_runs_by_plugin on plugin_runs (plugin);
create index plugin_runs_unfinished on plugin_runs (seq) where status = 'running';

-- spec is sealed canonical JSON: nobody but its plugin knows which of its fields are secrets.
create table blocks (
  kind text not null,
  scope text not null,
  name text not null,
  plugin text not null,
  version text not null,
  spec blob not null,
  revision integer not null,
  created_at integer not null,
  updated_at integer not null
) strict;
create unique index blocks_by_key on blocks (kind, scope, name);

-- Which manifests a block was expanded into; a manifest belongs to one block at most.
create table block_children (
  kind text not null,
  scope text not null,
  name text not null,
  block_kind text not null,
  block_scope text not null,
  block_name text not null
) strict;
create unique index block_children_by_key on block_children (kind, scope, name);
create index block_children_by_block on block_children (block_kind, block_scope, block_name, kind, scope, name);
`;
