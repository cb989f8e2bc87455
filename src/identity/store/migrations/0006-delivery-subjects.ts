/** What webhook calls are about: those of one webhook and subject keep their order. */
export const sixth = /* sql */ `
-- Empty: the call has no order.
alter table hook_deliveries add column subject text not null default '';
create index hook_deliveries_by_subject on hook_deliveries (hook, subject, seq) where state = 'waiting';
update hook_deliveries set subject =
  coalesce(json_extract(body, '$.data.user_id'), case when event like 'user.%' then json_extract(body, '$.data.id') end, '')
where state = 'waiting';
`;
