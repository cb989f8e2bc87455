/** Lines that the other side of a drain refused. A released migration is never edited. */
export const refusedLines = /* sql */ `
-- last_refused: JSON with the time, the app and the answer.
alter table log_drains add column refused integer not null default 0;
alter table log_drains add column last_refused text;
`;
