import { type PlaneEndpoint, planePrefix } from "./plane-endpoint.ts";

/** The same endpoint on the orchestration plane: `/alerts` for `/api/pat/v1/alerts`. No token, and so no scope. */
export function operatorTwin<E extends PlaneEndpoint>(endpoint: E): E {
  return { ...endpoint, path: endpoint.path.slice(planePrefix.length) };
}
