/** Certificates of the ingress, and what is needed to issue and renew them. */
export const certificates = /* sql */ `
-- document is a sealed JSON text: most kinds hold a private key.
create table certificates (
  kind text not null,
  id text not null,
  document blob not null,
  updated_at integer not null,
  primary key (kind, id)
) strict, without rowid;
`;
