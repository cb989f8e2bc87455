/** What keeps the messages of a group in order, and what receivers have heard. A released migration is never edited. */
export const messageOrder = /* sql */ `
-- ends: JSON, the ids among alerts that are reported as resolved. groups: JSON, the groups of all of them.
alter table alert_deliveries add column ends text not null default '[]';
alter table alert_deliveries add column groups text not null default '[]';
update alert_deliveries set
  ends = (select json_group_array(e.value) from json_each(alerts) as e where e.value in
    (select json_extract(r.value, '$.id') from alert_messages as m, json_each(m.body, '$.resolved') as r
     where m.id = alert_deliveries.message)),
  groups = (select json_group_array(distinct a.group_key) from json_each(alerts) as e join alerts as a on a.id = e.value)
where status = 'waiting';

-- Alerts that a channel heard of, or may have, and whose end it has not got yet.
create table alert_heard (
  channel text not null references alert_channels (name) on delete cascade,
  alert text not null,
  group_key text not null,
  primary key (channel, alert)
) strict, without rowid;
create index alert_heard_by_group on alert_heard (channel, group_key);
insert or ignore into alert_heard
  select d.channel, a.id, a.group_key from alert_deliveries as d, json_each(d.alerts) as e
  join alerts as a on a.id = e.value
  where d.attempts > 0 and (a.end_sent = 0 or exists
    (select 1 from alert_deliveries as w, json_each(w.ends) as o where w.channel = d.channel and o.value = a.id));
`;
