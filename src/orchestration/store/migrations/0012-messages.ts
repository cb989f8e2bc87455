/** Who asked for a release, and what they wrote about it. */
export const messages = /* sql */ `
alter table releases add column actor text;
alter table releases add column message text;
`;
