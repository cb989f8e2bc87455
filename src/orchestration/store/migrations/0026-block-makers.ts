/**
 * Which plugin made a block, beside its name and version. The server fills in rows of before at its next start: only it
 * knows which plugins are there.
 */
export const blockMakers = /* sql */ `
alter table blocks add column origin text not null default 'unrecorded';
alter table blocks add column source text not null default '';
`;
