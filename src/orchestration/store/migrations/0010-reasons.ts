/** Why releases and runs failed, and which deaths were of our own making, as words that programs read. */
export const reasons = /* sql */ `
-- A JSON list of words, the most general first.
alter table releases add column reasons text;
alter table runs add column reason text;
alter table deaths add column killed integer not null default 0;
update deaths set killed = 1 where reason like 'killed: %';
`;
