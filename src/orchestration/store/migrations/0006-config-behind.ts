/** Config that was changed without a restart: containers made before `at` do not have it. */
export const configBehind = /* sql */ `
create table config_behind (
  scope text not null,
  name text not null,
  key text not null,
  at integer not null
) strict;
create unique index config_behind_by_key on config_behind (scope, name, key);
`;
