/** How far the canary releases under way are, as JSON; one for each resource. */
export const canaries = /* sql */ `
create table canaries (
  kind text not null,
  scope text not null,
  name text not null,
  document text not null,
  primary key (kind, scope, name)
) strict, without rowid;
`;
