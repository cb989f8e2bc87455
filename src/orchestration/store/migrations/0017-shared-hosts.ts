/**
 * Which scope has a host, for ingresses that were stored before hosts had one. Hosts that several scopes share already
 * are left alone.
 */
export const sharedHosts = /* sql */ `
insert or ignore into claims (claim, owner, kind, scope, name)
  select 'share:' || substr(claim, 8), 'scope:' || scope, kind, scope, name
  from claims as own
  where claim like 'domain:%' and owner = 'served' and not exists (
    select 1 from claims as other
    where other.claim = own.claim and other.owner = 'served' and other.scope <> own.scope
  );
`;
