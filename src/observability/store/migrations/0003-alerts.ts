/** Alerts, what they were sent to, and how long apps were down. A released migration is never edited. */
export const alertTables = /* sql */ `
-- state: pending, firing or resolved; a pending one that is well again is deleted. Times are epoch milliseconds.
-- fingerprint: rule and labels; at most one row of each is not resolved. sent_at: when a message reported it last.
create table alerts (
  seq integer primary key autoincrement,
  id text not null unique,
  fingerprint text not null,
  rule text not null,
  severity text not null,
  labels text not null,
  scope text,
  name text,
  state text not null,
  title text not null,
  detail text not null,
  value real,
  since integer not null,
  fired_at integer,
  well_since integer,
  resolved_at integer,
  group_key text not null,
  first_sent_at integer,
  sent_at integer,
  end_sent integer not null default 0,
  ack_by text,
  ack_at integer,
  ack_note text,
  why text
) strict;
create unique index alerts_open on alerts (fingerprint) where state <> 'resolved';
create index alerts_by_fingerprint on alerts (fingerprint, fired_at);
create index alerts_by_state on alerts (state, end_sent);
create index alerts_by_app on alerts (scope, name, seq);

create table alert_rules (
  name text primary key,
  body text not null,
  updated_at integer not null,
  updated_by text not null
) strict;

create table alert_silences (
  id text primary key,
  matcher text not null,
  by text not null,
  reason text,
  created_at integer not null,
  until integer not null
) strict;

-- target is sealed as a whole: addresses of webhooks are passwords.
create table alert_channels (
  name text primary key,
  target blob not null,
  min_severity text not null,
  apps text not null,
  lines integer not null,
  created_at integer not null
) strict;

create table alert_groups (
  key text primary key,
  sent_at integer not null
) strict;

create table alert_messages (
  id text primary key,
  group_key text not null,
  body text not null,
  created_at integer not null
) strict;
create index alert_messages_by_time on alert_messages (created_at);

create table alert_deliveries (
  seq integer primary key autoincrement,
  id text not null unique,
  message text not null references alert_messages (id) on delete cascade,
  channel text not null references alert_channels (name) on delete cascade,
  title text not null,
  alerts text not null,
  status text not null,
  attempts integer not null,
  next_at integer not null,
  created_at integer not null,
  last_result text
) strict;
create index alert_deliveries_by_due on alert_deliveries (status, next_at);
create index alert_deliveries_by_channel on alert_deliveries (channel, seq);
create index alert_deliveries_by_message on alert_deliveries (message);

create table alert_settings (
  key text primary key,
  value blob not null
) strict;

-- Spans in which an app was meant to run and no replica was ready. seen_at: when it was last seen so.
create table outages (
  seq integer primary key autoincrement,
  kind text not null,
  scope text not null,
  name text not null,
  from_at integer not null,
  to_at integer,
  seen_at integer not null,
  cause text not null,
  cause_ref text,
  cause_text text not null,
  failed_requests integer not null default 0
) strict;
create unique index outages_open on outages (kind, scope, name) where to_at is null;
create index outages_by_app on outages (scope, name, from_at);

create table availability_targets (
  scope text not null,
  name text not null,
  percent real not null,
  primary key (scope, name)
) strict;
`;
