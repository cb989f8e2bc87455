/** Which deployments are asleep: they have no replicas until a request wakes them. */
export const sleep = /* sql */ `
create table sleep (
  kind text not null,
  scope text not null,
  name text not null,
  asleep integer not null,
  since integer not null,
  primary key (kind, scope, name)
) strict, without rowid;
`;
