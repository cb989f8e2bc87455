import type { Endpoint } from "../../base/wire/endpoint.ts";
import { alertEndpoints } from "./alert-endpoints.ts";
import { listApps } from "./apps.ts";
import { metricEndpoints } from "./metrics.ts";
import { boardEndpoints } from "./boards.ts";
import { drainEndpoints } from "./log-drains.ts";
import { logSearchEndpoints } from "./log-searches.ts";
import { traceEndpoints } from "./traces.ts";
import { logEndpoints } from "./log-search.ts";
import { operatorPeopleEndpoints } from "./people.ts";
import { createUiLink } from "./sessions.ts";
import { patEndpoints } from "./tokens.ts";

/** What the observability plane has on the orchestration plane. */
export const operatorEndpoints: Endpoint[] = [
  ...patEndpoints,
  ...operatorPeopleEndpoints,
  createUiLink,
  listApps,
  ...alertEndpoints,
  ...metricEndpoints,
  ...logEndpoints,
  ...traceEndpoints,
  ...drainEndpoints,
  ...logSearchEndpoints,
  ...boardEndpoints,
];
