/**
 * When each of the tokens of a chain was used first, as far as its grace still covers it (a JSON list, newest last),
 * and when the newest token was last given to one request more. `rotated_at` knew the last one alone.
 */
export const fourth = /* sql */ `
alter table refresh_chains add column spent text not null default '[]';
alter table refresh_chains add column shared_at integer;
update refresh_chains set spent = json_array(rotated_at);
alter table refresh_chains drop column rotated_at;
`;
