/** Targets of copies outside of the machine, their newest runs, and the recovery key: documents, each sealed for its own row. */
export const backups = /* sql */ `
create table backups (
  kind text not null,
  id text not null,
  document blob not null,
  updated_at integer not null,
  primary key (kind, id)
) strict, without rowid;
`;
