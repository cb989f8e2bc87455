import type { Scope } from "../../src/observability/api/plane-endpoint.ts";

/**
 * Which scope opens which route of the observability plane, as it was decided: a row for each. A new route needs its
 * row here, so that the scope of none is an oversight. Paths are below the prefix, in the order of the alphabet.
 */
export const scopeMatrix: Record<string, Scope | "any"> = {
  "POST /alerts/:id/acknowledge": "actions",
  "GET /alerts/:id": "read",
  "POST /alerts/channels/:name/test": "actions",
  "DELETE /alerts/channels/:name": "admin",
  "PUT /alerts/channels/:name": "admin",
  "GET /alerts/channels": "read",
  "GET /alerts/deliveries": "read",
  "DELETE /alerts/heartbeat": "admin",
  "GET /alerts/heartbeat": "read",
  "PUT /alerts/heartbeat": "admin",
  "GET /alerts/history": "read",
  "DELETE /alerts/rules/:name": "actions",
  "GET /alerts/rules/:name": "read",
  "PUT /alerts/rules/:name": "actions",
  "GET /alerts/rules": "read",
  "DELETE /alerts/silences/:id": "actions",
  "GET /alerts/silences": "read",
  "POST /alerts/silences": "actions",
  "GET /alerts": "read",
  "GET /apps/:scope/:name": "read",
  "GET /apps": "read",
  "GET /deploys": "read",
  "GET /overview": "read",
  "DELETE /pats/:id": "admin",
  "GET /pats": "admin",
  "GET /whoami": "any",
};
