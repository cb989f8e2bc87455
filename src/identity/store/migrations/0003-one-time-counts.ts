/**
 * How many links of mails wait, of each instance and over all of them (instance 0). Codes that stand for a token do not
 * count: only who has signed in gets one, and it ends within a minute.
 */
export const third = /* sql */ `
create table one_time_counts (
  instance integer primary key,
  n integer not null
) strict;
insert into one_time_counts
  select instance, count(*) from one_time where purpose <> 'deliver_token' group by instance;
insert into one_time_counts select 0, count(*) from one_time where purpose <> 'deliver_token';

create trigger one_time_added after insert on one_time when new.purpose <> 'deliver_token'
begin
  insert into one_time_counts (instance, n) values (new.instance, 1), (0, 1)
  on conflict (instance) do update set n = n + 1;
end;
create trigger one_time_gone after delete on one_time when old.purpose <> 'deliver_token'
begin
  update one_time_counts set n = n - 1 where instance in (old.instance, 0);
  delete from one_time_counts where instance = old.instance and n <= 0;
end;
`;
