import { type Principal, unnamed } from "../../access/principal.ts";

const known = new WeakMap<Request, Principal>();

/** Called by the door that a request came through, before the plane answers it. */
export function namePrincipal(request: Request, principal: Principal): Request {
  known.set(request, principal);
  return request;
}

/** Who sent a request. Without a door that named one it may do the least. */
export function principalOf(request: Request): Principal {
  return known.get(request) ?? unnamed;
}
