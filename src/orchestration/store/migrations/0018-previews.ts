/** Scopes that belong to a branch, and end. */
export const previews = /* sql */ `
create table previews (
  scope text not null primary key,
  parent text not null,
  branch text not null,
  host text,
  at integer not null,
  until integer not null
) strict, without rowid;
`;
