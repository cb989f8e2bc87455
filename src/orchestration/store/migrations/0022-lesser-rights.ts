/** What the server does later for a release or a block, it does with the rights of the caller that stored it. */
export const lesserRights = /* sql */ `
alter table releases add column lesser integer not null default 0;
alter table blocks add column lesser integer not null default 0;
`;
