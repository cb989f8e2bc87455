/** Sessions of browsers: each is bound to a token. `owned`: the token was made for it, and ends with it. */
export const sessions = /* sql */ `
create table sessions (
  id text primary key,
  token text not null,
  owned integer not null,
  created_at integer not null,
  expires_at integer not null,
  ended_at integer,
  ip text not null,
  agent text not null
) strict;

create index sessions_expires_at on sessions (expires_at);
`;
