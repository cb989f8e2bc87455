/** Log searches and boards that were saved. A released migration is never edited. */
export const savedThings = /* sql */ `
-- sort: search or board. body: JSON. updated_at: epoch milliseconds.
create table saved (
  sort text not null,
  name text not null,
  body text not null,
  updated_at integer not null,
  updated_by text not null,
  primary key (sort, name)
) strict, without rowid;
`;
