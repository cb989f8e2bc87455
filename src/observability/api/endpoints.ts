import { alertEndpoints } from "./alert-endpoints.ts";
import { openAppRun, openTerminal } from "./exec.ts";
import { fileEndpoints } from "./files.ts";
import { metricEndpoints } from "./metrics.ts";
import { planeLogs, planePodLogs } from "./pod-logs.ts";
import { getPlanePod, listPlanePods, sampledStats, restartPlanePod } from "./pods.ts";
import { planeSystem } from "./system.ts";
import { boardEndpoints } from "./boards.ts";
import { drainEndpoints } from "./log-drains.ts";
import { logSearchEndpoints } from "./log-searches.ts";
import { traceEndpoints } from "./traces.ts";
import { logEndpoints } from "./log-search.ts";
import { planeOpenapi } from "./openapi.ts";
import { planeIdentityEndpoints } from "./identity.ts";
import { planePeopleEndpoints } from "./people.ts";
import type { PlaneEndpoint } from "./plane-endpoint.ts";
import { planePatEndpoints } from "./tokens.ts";
import { whoami } from "./whoami.ts";
import { pluginEndpoints } from "./plugins.ts";
import { wideEndpoints } from "./wide-endpoints.ts";

/** The observability plane, whole: what is not in this list does not exist there. */
export const planeEndpoints: PlaneEndpoint[] = [
  whoami,
  planeOpenapi,
  ...planePatEndpoints,
  ...planePeopleEndpoints,
  ...planeIdentityEndpoints,
  planeSystem,
  sampledStats,
  listPlanePods,
  getPlanePod,
  restartPlanePod,
  planePodLogs,
  planeLogs,
  ...alertEndpoints,
  ...metricEndpoints,
  ...logEndpoints,
  ...traceEndpoints,
  ...drainEndpoints,
  ...logSearchEndpoints,
  ...boardEndpoints,
  ...wideEndpoints,
  ...pluginEndpoints,
  openTerminal,
  openAppRun,
  ...fileEndpoints,
];
