import type { ObservabilityContext } from "../context.ts";
import { createIncidents, type IncidentRoom } from "../incidents/create.ts";
import type { LogsRoom } from "../logs/create.ts";
import type { Alert } from "../../api/alerts.ts";
import type { Drain } from "../../api/log-drains.ts";
import type { DrainFact, LogAsk, MetricAsk, MetricValue } from "../../core/alerts/facts.ts";
import type { DrainRoom } from "../drains/create.ts";
import type { AppsRoom } from "../apps/create.ts";
import type { KnownApp } from "../apps/model.ts";
import { type AlertRoom, createAlerts } from "./create.ts";
import type { AlertParts } from "../alert-parts.ts";
import { rawTier } from "../../core/metrics/tiers.ts";
import type { MetricsRoom } from "../metrics/create.ts";
import { readMetrics } from "../metrics/questions.ts";
import type { TimelineEntry } from "../../api/incidents.ts";

/** For the operator, who may see everything. */
const everything = { apps: [] };
const linesMax = 1_000;

/** How many lines of each app hold a text; counted up to a limit in one look. */
export async function askLogs(room: LogsRoom, { pattern, level, withinMs }: LogAsk): Promise<MetricValue[]> {
  const q = `"${pattern.replaceAll(/["\\]/g, "\\$&")}"`;
  const from = `${Math.max(1, Math.round(withinMs / 1_000))}s`;
  const query = { q, from, limit: String(linesMax), ...(level === undefined ? {} : { level }) };
  const { lines } = await room.search(everything, query);
  const counts = Map.groupBy(lines, ({ scope, name }) => `${scope}/${name}`);
  return [...counts.values()].flatMap((own) => {
    const [line] = own;
    return line === undefined ? [] : [{ labels: { scope: line.scope, name: line.name }, value: own.length }];
  });
}

const linesRead = 200;
const shownMax = 30;
const lineMax = 300;

/** The last lines of an app that report errors, within a span. */
export async function errorLines(
  room: LogsRoom,
  app: string,
  { from, to }: { from: number; to: number },
): Promise<TimelineEntry[]> {
  const span = { from: new Date(from).toISOString(), until: new Date(to).toISOString() };
  const { lines } = await room.search(everything, { app, level: "error", ...span, limit: String(linesRead) });
  const entries: (TimelineEntry & { times: number })[] = [];
  for (const { at, text } of lines.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const last = entries.at(-1);
    const shown = text.slice(0, lineMax);
    // A crash loop says the same again and again.
    if (last?.text === shown) last.times += 1;
    else entries.push({ at, type: "log", text: shown, bad: true, times: 1 });
  }
  return entries.slice(-shownMax).map(({ times, ...entry }) => ({
    ...entry,
    text: times === 1 ? entry.text : `${entry.text} (${times} times)`,
  }));
}

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
    fires: apps.model.alarm,
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

/** One value for each group over the span that ends now. Fails `invalid` for a metric that there cannot be. */
async function askMetrics(room: MetricsRoom, ask: MetricAsk): Promise<MetricValue[]> {
  const [metric] = readMetrics(ask.metric, 1);
  if (metric === undefined) return [];
  const { slotMs } = rawTier;
  const stepMs = Math.max(slotMs, Math.ceil(ask.overMs / slotMs) * slotMs);
  const to = Math.ceil((room.now() + 1) / slotMs) * slotMs;
  const plan = { tier: rawTier, stepMs, from: to - stepMs, to };
  const question = { ...metric, aggregate: ask.agg, groupBy: ask.groupBy, accepts: () => true };
  const { groups } = await room.archive().ask(question, plan);
  return groups.flatMap(({ group, points }) => {
    const value = points.at(-1)?.value;
    return value === undefined ? [] : [{ labels: labelsOf(group), value }];
  });
}

/** An app is two labels in alerts. */
function labelsOf({ app, ...labels }: Record<string, string>): Record<string, string> {
  if (app === undefined) return labels;
  const [scope = "", name = ""] = app.split("/");
  return { ...labels, scope, name };
}
