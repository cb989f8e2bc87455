/** What to do about a death, where the engine showed why the program was refused something. */
export const deathHints = /* sql */ `
alter table deaths add column hint text;
`;
