/**
 * People who sign in through an instance of the identity service, and their roles. `user_id` is the user of that
 * instance, from the first sign-in on. `people_instance` has one row at most.
 */
export const people = /* sql */ `
create table people (
  id text primary key,
  email text not null unique,
  role text not null,
  apps text not null,
  user_id text unique,
  created_at integer not null,
  created_by text not null,
  last_sign_in_at integer
) strict;

create table people_instance (
  only_row integer primary key check (only_row = 1),
  instance text not null
) strict;

alter table sessions add column person text;
alter table sessions add column identity_session text;
`;
