/** What a rollback changed back: a JSON list of dotted paths. */
export const takenBack = /* sql */ `
alter table releases add column taken_back text;
`;
