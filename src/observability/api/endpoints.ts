import { alertEndpoints } from "./alert-endpoints.ts";
import { planeMetricEndpoints } from "./metrics.ts";
import type { PlaneEndpoint } from "./plane-endpoint.ts";
import { listPlanePats, revokePlanePat } from "./tokens.ts";
import { whoami } from "./whoami.ts";
import { wideEndpoints } from "./wide-endpoints.ts";

/** The observability plane, whole: what is not in this list does not exist there. */
export const planeEndpoints: PlaneEndpoint[] = [
  whoami,
  listPlanePats,
  revokePlanePat,
  ...alertEndpoints,
  ...planeMetricEndpoints,
  ...wideEndpoints,
];
