/** Deploy receipts: the traffic around a release, as JSON. */
export const receipts = /* sql */ `
create table receipts (
  release_id text primary key,
  document text not null
) strict, without rowid;
`;
