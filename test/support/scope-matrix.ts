import type { Scope } from "../../src/observability/api/plane-endpoint.ts";

/**
 * Which scope opens which route of the observability plane, as it was decided: a row for each. A new route needs its
 * row here, so that the scope of none is an oversight. Paths are below the prefix, in the order of the alphabet.
 */
export const scopeMatrix: Record<string, Scope | "any"> = {
  "GET /apps/:scope/:name": "read",
  "GET /apps": "read",
  "GET /deploys": "read",
  "GET /overview": "read",
  "DELETE /pats/:id": "admin",
  "GET /pats": "admin",
  "GET /whoami": "any",
};
