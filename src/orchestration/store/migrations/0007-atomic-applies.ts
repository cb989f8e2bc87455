/** Applies whose resources all go back when one of them fails. */
export const atomicApplies = /* sql */ `
-- told is a sealed JSON object: the specs of before may hold secrets.
create table atomic_applies (
  seq integer primary key,
  id text not null,
  actor text not null,
  state text not null,
  started_at integer not null,
  ended_at integer,
  told blob not null
) strict;
create unique index atomic_applies_by_id on atomic_applies (id);
create index atomic_applies_waiting on atomic_applies (seq) where state = 'waiting';
`;
