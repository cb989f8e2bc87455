/** The first schema of the identity service. A released migration is never edited. */
export const first = /* sql */ `
create table meta (
  key text primary key,
  value text not null
) strict;

create table apps (
  seq integer primary key,
  id text not null unique,
  name text not null unique,
  created_at integer not null
) strict;

-- settings is the JSON of api/identity/settings.ts; what is left out stands at its default.
-- seq is never used again: what is left of a deleted instance elsewhere must not be a new one's.
create table instances (
  seq integer primary key autoincrement,
  id text not null unique,
  app_id text not null references apps (id),
  name text not null,
  environment text not null,
  host text unique,
  publishable_key text not null unique,
  settings text not null,
  created_at integer not null,
  updated_at integer not null,
  unique (app_id, name)
) strict;

-- hash is sha256 of the key, for lookup; sealed holds the key itself, for signing. state: staged (accepted), signing,
-- previous (accepted until expires_at). use: secret (API and signing) or api (API alone).
create table keys (
  id text primary key,
  instance integer not null references instances (seq) on delete cascade,
  use text not null,
  state text not null,
  hash blob not null unique,
  sealed blob not null,
  prefix text not null,
  created_at integer not null,
  expires_at integer
) strict;
create index keys_by_instance on keys (instance);

-- RS256 pairs of instances that opted in; the private part is sealed.
create table signing_pairs (
  id text primary key,
  instance integer not null references instances (seq) on delete cascade,
  state text not null,
  public_jwk text not null,
  sealed blob not null,
  created_at integer not null,
  expires_at integer
) strict;
create index signing_pairs_by_instance on signing_pairs (instance);

-- instance 0 holds the global credentials. kind: google, github, twitter, password or oidc. connection is empty for the
-- built-in ones. What is null stands at the default of the provider.
create table providers (
  instance integer not null,
  name text not null,
  kind text not null,
  enabled integer not null,
  client_id text,
  client_secret blob,
  options text not null,
  created_at integer not null,
  updated_at integer not null,
  primary key (instance, name)
) strict;

-- seq grows with creation: newest first is seq descending.
create table users (
  seq integer primary key autoincrement,
  id text not null unique,
  instance integer not null references instances (seq) on delete cascade,
  email text not null,
  name text not null,
  avatar_url text,
  email_verified_at integer,
  placeholder integer not null default 0,
  password_hash text,
  banned_at integer,
  created_at integer not null,
  updated_at integer not null,
  unique (instance, email)
) strict;
create index users_by_instance on users (instance, seq);
create index users_by_name on users (instance, name collate nocase);
create index users_by_created on users (instance, created_at);
create index users_by_updated on users (instance, updated_at);
create index users_by_verified on users (instance, email_verified_at);

-- Tokens of the provider are sealed.
create table identities (
  seq integer primary key,
  id text not null unique,
  instance integer not null references instances (seq) on delete cascade,
  user integer not null references users (seq) on delete cascade,
  provider text not null,
  uid text not null,
  email text,
  email_verified integer not null,
  access_token blob,
  refresh_token blob,
  token_expires_at integer,
  created_at integer not null,
  updated_at integer not null,
  unique (instance, provider, uid)
) strict;
create index identities_by_user on identities (user);

create table sessions (
  seq integer primary key autoincrement,
  id text not null unique,
  session_id text not null unique,
  instance integer not null references instances (seq) on delete cascade,
  user integer not null references users (seq) on delete cascade,
  provider text not null,
  name text not null,
  email text not null,
  ip_address text not null,
  user_agent text not null,
  geo_data text not null,
  device text,
  logged_in_at integer not null,
  last_signin_at integer not null,
  last_activity_at integer not null,
  expires_at integer,
  revoked_at integer,
  revoke_reason text,
  created_at integer not null
) strict;
create index sessions_by_signin on sessions (instance, last_signin_at);
create index sessions_by_user on sessions (user);
create index sessions_by_ip on sessions (instance, ip_address);
create index sessions_by_instance on sessions (instance, seq);
create index sessions_by_provider on sessions (instance, provider);
create index sessions_by_email on sessions (instance, email);
create index sessions_by_end on sessions (instance, revoked_at) where revoked_at is not null;
create index sessions_by_revocation on sessions (revoked_at) where revoked_at is not null;
create index sessions_by_expiry on sessions (expires_at) where expires_at is not null;
create index sessions_by_device on sessions (instance, device);

-- One row for each sign-in token that was exchanged, id names that token. Its refresh tokens are made from id and
-- generation, so that none of them is stored and a spent one is still known.
create table refresh_chains (
  id blob primary key,
  session integer not null references sessions (seq) on delete cascade,
  generation integer not null,
  rotated_at integer not null,
  expires_at integer not null,
  created_at integer not null
) strict, without rowid;
create index refresh_chains_by_session on refresh_chains (session);
create index refresh_chains_by_expiry on refresh_chains (expires_at);

-- hash is sha256 of the state value; browser is sha256 of the cookie of the browser that started. endpoints is the JSON
-- of where the code may be exchanged, as it was when the browser was sent away; code_verifier is sealed.
create table oauth_states (
  hash blob primary key,
  instance integer not null references instances (seq) on delete cascade,
  provider text not null,
  redirect_uri text not null,
  browser blob not null,
  endpoints text not null,
  code_verifier blob,
  nonce text,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
create index oauth_states_by_expiry on oauth_states (expires_at);

-- One-time values in mails and redirects. purpose: verify_email, reset_password, deliver_token.
create table one_time (
  hash blob primary key,
  instance integer not null references instances (seq) on delete cascade,
  user integer references users (seq) on delete cascade,
  purpose text not null,
  data blob not null,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
create index one_time_by_expiry on one_time (expires_at);
create index one_time_by_user on one_time (user, purpose);

-- The service's own browser session of an instance: hash of the device cookie.
create table browsers (
  hash blob primary key,
  instance integer not null references instances (seq) on delete cascade,
  session integer not null references sessions (seq) on delete cascade,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
create index browsers_by_session on browsers (session);
create index browsers_by_expiry on browsers (expires_at);

-- state: kept (no SMTP), waiting, sent, failed. The whole message is sealed.
create table mails (
  seq integer primary key autoincrement,
  id text not null unique,
  instance integer not null references instances (seq) on delete cascade,
  purpose text not null,
  message blob not null,
  state text not null,
  attempts integer not null,
  next_at integer not null,
  last_error text,
  created_at integer not null
) strict;
create index mails_by_state on mails (state, next_at);
create index mails_by_instance on mails (instance, seq);

-- What the search index must look at again; rows that are new it finds by their number. Dropped once it has.
create table search_changes (
  n integer primary key autoincrement,
  kind text not null,
  instance integer not null,
  row integer not null
) strict;
create trigger users_renamed after update of email, name on users
when old.email is not new.email or old.name is not new.name
begin insert into search_changes (kind, instance, row) values ('users', new.instance, new.seq); end;
create trigger sessions_renamed after update of email, name, ip_address on sessions
when old.email is not new.email or old.name is not new.name or old.ip_address is not new.ip_address
begin insert into search_changes (kind, instance, row) values ('sessions', new.instance, new.seq); end;

-- Append-only, capped. Never a token, code, password or mail content.
create table audit (
  seq integer primary key autoincrement,
  id text not null unique,
  instance integer not null,
  at integer not null,
  actor text not null,
  action text not null,
  user_id text,
  email text,
  session_id text,
  provider text,
  ip_address text,
  detail text not null
) strict;
create index audit_by_at on audit (instance, at);
create index audit_by_instance on audit (instance, seq);
create index audit_by_user on audit (instance, user_id);
create index audit_by_email on audit (instance, email);
create index audit_by_action on audit (instance, action);

-- events is a JSON list of names, empty for all; secret is sealed.
create table hooks (
  seq integer primary key,
  id text not null unique,
  instance integer not null references instances (seq) on delete cascade,
  url text not null,
  secret blob not null,
  events text not null,
  enabled integer not null,
  created_at integer not null
) strict;
create index hooks_by_instance on hooks (instance);

create table hook_deliveries (
  seq integer primary key autoincrement,
  id text not null unique,
  hook integer not null references hooks (seq) on delete cascade,
  instance integer not null,
  event text not null,
  body text not null,
  state text not null,
  attempts integer not null,
  next_at integer not null,
  last_result text,
  created_at integer not null
) strict;
create index hook_deliveries_by_hook on hook_deliveries (hook, seq);
create index hook_deliveries_by_state on hook_deliveries (hook, state, next_at);
`;
