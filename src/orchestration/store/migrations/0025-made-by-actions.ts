/** A block owns what its plugin's actions applied for it, beside what it was expanded into. */
export const madeByActions = /* sql */ `
-- 1: an action of the plugin applied it. The next expansion of the block does not know of it, and leaves it.
alter table block_children add column by_action integer not null default 0;

-- A JSON list of what the plugin handed on and this server left out.
alter table blocks add column warnings text not null default '[]';
`;
