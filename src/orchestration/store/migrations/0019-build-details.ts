/** What a build was asked for beyond its folder, so that it can be built again; the size of its image; the commit. */
export const buildDetails = /* sql */ `
alter table builds add column request text not null default '{}';
alter table builds add column image_bytes integer;
alter table builds add column git text;
`;
