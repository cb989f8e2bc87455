import { mount, type Plane } from "../../base/http/mount.ts";
import { readFlag } from "../../base/wire/query.ts";
import { sees } from "../../access/apps.ts";
import { listApps } from "../api/apps.ts";
import { createUiLink } from "../api/sessions.ts";
import type { Observability } from "../service/observability.ts";
import { mountAlerts } from "./alerts.ts";
import { mountDrains } from "./drains.ts";
import { mountIncidents } from "./incidents.ts";
import { mountLogs } from "./logs.ts";
import { mountMetrics } from "./metrics.ts";
import { mountPeople } from "./people.ts";
import { mountSaved } from "./saved.ts";
import { mountPats } from "./tokens.ts";
import { mountTraces } from "./traces.ts";

/** What operators and tokens both have: each plane serves what its list has. One line per room. */
export function mountObservability(plane: Plane, observability: Observability): void {
  mountPats(plane, observability.tokens);
  mountPeople(plane, observability.people);
  mountMetrics(plane, observability.metrics, observability.log);
  mountAlerts(plane, observability.alerts);
  mountLogs(plane, observability.logs);
  mountTraces(plane, observability.traces);
  mountDrains(plane, observability.drains);
  mountSaved(plane, observability);
  mountIncidents(plane, observability.incidents);
  mount(plane, listApps, async ({ by, query: { sparks, ...filter } }) => ({
    apps: await observability.apps.apps.list((app) => sees(by, app), { ...filter, sparks: readFlag(sparks, true) }),
  }));
  mount(plane, createUiLink, {
    answer: ({ body, actor }) => observability.sessions.link(body, { actor }),
    status: () => 201,
    headers: () => ({ "Cache-Control": "no-store" }),
  });
}
