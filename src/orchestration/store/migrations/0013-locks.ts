/** Scopes (name '') and apps that take no changes. */
export const locks = /* sql */ `
create table locks (
  scope text not null,
  name text not null,
  reason text not null,
  actor text not null,
  at integer not null,
  until integer,
  primary key (scope, name)
) strict, without rowid;
`;
