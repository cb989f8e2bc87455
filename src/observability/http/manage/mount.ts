import type { Plane } from "../../../base/http/mount.ts";
import type { Observability } from "../../service/observability.ts";
import { mountAlerts } from "../alerts.ts";
import { mountIncidents } from "../incidents.ts";
import { onOrchestration } from "../both-planes.ts";
import { mountOperatorMetrics } from "./metrics.ts";
import { mountLogs, mountOperatorLogStream } from "../logs.ts";
import { mountTraces } from "../traces.ts";
import { mountDrains } from "../drains.ts";
import { mountOperatorPeople } from "../people.ts";
import { mountSaved } from "../saved.ts";
import { mountPats } from "./pats.ts";
import { mountUiLinks } from "./ui-links.ts";

/** What the observability plane has on the orchestration plane: the operator's side. One line per room. */
export function mountObservability(plane: Plane, observability: Observability): void {
  mountPats(plane, observability.tokens);
  mountOperatorPeople(plane, observability.people);
  mountUiLinks(plane, observability.sessions);
  mountOperatorMetrics(plane, observability.metrics, observability.log);
  mountAlerts(onOrchestration(plane), observability.alerts);
  mountLogs(onOrchestration(plane), observability.logs);
  mountTraces(onOrchestration(plane), observability.traces);
  mountDrains(onOrchestration(plane), observability.drains);
  mountSaved(onOrchestration(plane), observability);
  mountOperatorLogStream(plane, observability.logs);
  mountIncidents(onOrchestration(plane), observability.incidents);
}
