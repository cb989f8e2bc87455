import type { ObservabilityContext } from "../context.ts";
import { createIncidents, type IncidentRoom } from "../incidents/create.ts";
import type { LogsRoom } from "../logs/create.ts";
import type { Alert } from "../../api/alerts.ts";
import type { Drain } from "../../api/log-drains.ts";
import type { DrainFact } from "../../core/alerts/facts.ts";
import type { DrainRoom } from "../drains/create.ts";
import type { AppsRoom } from "../apps/create.ts";
import type { KnownApp } from "../apps/model.ts";
import { askLogs, errorLines } from "./ask-logs.ts";
import { askMetrics } from "./ask-metrics.ts";
import { type AlertRoom, createAlerts } from "./create.ts";
import type { AlertParts } from "../alert-parts.ts";

const idBytes = 8;

/** What other rooms know. */
interface Rooms {
  logs: LogsRoom;
  apps: Pick<AppsRoom, "model" | "stream">;
  drains: Pick<DrainRoom, "list">;
}

/** The rooms of alerts and incidents over the store and the platform of the plane: one look feeds both. */
export function openAlerts(
  context: ObservabilityContext,
  rooms: Rooms,
): { alerts: AlertRoom; incidents: IncidentRoom } {
  const parts = alertParts(context, rooms);
  const incidents = createIncidents(parts);
  return { alerts: createAlerts(parts, incidents.take), incidents };
}

function alertParts(
  { store, clock, log, randomBytes, platform, metrics, alerts: outside }: ObservabilityContext,
  { logs, apps, drains }: Rooms,
): AlertParts {
  return {
    ...outside,
    sources: {
      sight: (app) => sightOf(apps.model.get(app)),
      metrics: (ask) => askMetrics(metrics, ask),
      logs: (ask) => askLogs(logs, ask),
      drains: async () => drains.list().flatMap(drainFact),
      errorLines: (app, span) => errorLines(logs, app, span),
      ...outside.sources,
    },
    store: {
      ...store.alerting,
      write: (change, options) => store.write(({ alerting }) => change(alerting), options),
    },
    told: (alert) => apps.stream.alert(alert, placeOf(alert)),
    clock,
    log,
    newId: () => Buffer.from(randomBytes(idBytes)).toString("hex"),
    client: platform.as("alerts"),
  };
}

function drainFact({ name, oldest_waiting_at: oldest, last_error: error = "" }: Drain): DrainFact[] {
  return oldest === undefined ? [] : [{ name, oldestAt: Date.parse(oldest), error }];
}

function placeOf({ labels: { scope, name } }: Alert): { scope: string; name: string } | undefined {
  return scope === undefined || name === undefined ? undefined : { scope, name };
}

function sightOf(known: KnownApp | undefined) {
  if (known === undefined) return undefined;
  const starved = known.facts.pods.find(({ oomKilled, crashes }) => oomKilled && crashes > 0);
  return { serving: known.judgement.ready, starved: starved?.name };
}
