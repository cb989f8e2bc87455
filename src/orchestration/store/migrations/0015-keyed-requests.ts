/** Requests that came with a key of the client's own, so that a repeated one is not carried out twice. */
export const keyedRequests = /* sql */ `
create table keyed_requests (
  key text primary key,
  -- Of method, path, query and body.
  digest text not null,
  at integer not null,
  -- 0 while it is under way, or where the server ended before it was done.
  done integer not null,
  -- Sealed; null where it was not kept.
  answer blob
) strict, without rowid;
create index keyed_requests_by_time on keyed_requests (at);
`;
