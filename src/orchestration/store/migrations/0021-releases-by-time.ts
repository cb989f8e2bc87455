/** Releases of all resources in the order of their time, for a page of them: without reading the rows of the others. */
export const releasesByTime = /* sql */ `
create index releases_by_time on releases (started_at, id, kind, scope, name);
`;
