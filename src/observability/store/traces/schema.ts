/** Released steps are never edited. */
export const traceMigrations: readonly string[] = [
  `
  create table apps (
    id integer primary key,
    scope text not null,
    name text not null,
    unique (scope, name)
  ) strict;
  -- Spans of one app that came together, packed. New ones come at the end, and old ones go from the beginning.
  create table blocks (
    id integer primary key,
    app integer not null,
    at integer not null,
    spans integer not null,
    data blob not null
  ) strict;
  create index blocks_app on blocks (app, id);
  -- What a block has of one trace.
  create table parts (
    trace blob not null,
    block integer not null,
    app integer not null,
    from_us integer not null,
    until_us integer not null,
    spans integer not null,
    errors integer not null,
    root text not null,
    words text not null,
    primary key (trace, block)
  ) strict, without rowid;
  create index parts_time on parts (from_us, trace);
  create index parts_block on parts (block);
  `,
];
