/** Which instants of a cron job were passed over: they are open again when the clock turns out to have been ahead. */
export const missedInstants = /* sql */ `
alter table seen_schedules add column missed_after integer;
alter table seen_schedules add column missed_until integer;
`;
