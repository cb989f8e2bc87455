/** What webhook calls are about and whom they go to: those of one resource and subject keep their order. */
export const deliverySubjects = /* sql */ `
-- Empty: the call has no order, as calls that waited when this column was made.
alter table deliveries add column subject text not null default '';
create index deliveries_by_subject on deliveries (kind, scope, name, subject, seq) where status = 'waiting';
`;
