/**
 * Which network began a sign-in, and how many states wait: of each client of an instance, of each instance (`*`), and
 * over all of them (instance 0). A count over the rows themselves would cost more with every state of a flood.
 */
export const second = /* sql */ `
alter table oauth_states add column client text not null default 'unknown';

create table oauth_state_counts (
  instance integer not null,
  client text not null,
  n integer not null,
  primary key (instance, client)
) strict, without rowid;
insert into oauth_state_counts select instance, client, count(*) from oauth_states group by instance, client;
insert into oauth_state_counts select instance, '*', count(*) from oauth_states group by instance;
insert into oauth_state_counts select 0, '*', count(*) from oauth_states;

create trigger oauth_state_added after insert on oauth_states
begin
  insert into oauth_state_counts (instance, client, n)
  values (new.instance, new.client, 1), (new.instance, '*', 1), (0, '*', 1)
  on conflict (instance, client) do update set n = n + 1;
end;
create trigger oauth_state_gone after delete on oauth_states
begin
  update oauth_state_counts set n = n - 1 where instance = old.instance and client in (old.client, '*');
  update oauth_state_counts set n = n - 1 where instance = 0 and client = '*';
  delete from oauth_state_counts where instance = old.instance and client in (old.client, '*') and n <= 0;
end;
`;
