import { batch, computed, signal } from "@preact/signals";
import type { Activity } from "../../observability/api/activity.ts";
import { type App, type AppProblem, appStates } from "../../observability/api/app-model.ts";
import type { Deploy, HostStrip, Overview } from "../../observability/api/apps.ts";
import type { Operation } from "../../observability/api/operations.ts";
import type { MetricsTick, StreamEvents } from "../../observability/api/stream.ts";
import { keyText } from "../../orchestration/api/manifest-key.ts";
import type { Hearers } from "./stream.ts";

/** What the page holds of the server: one overview, and then what changes of it. */
const held = signal<ReadonlyMap<string, App>>(new Map());

/** There is an overview; before, nothing may be called empty. */
export const known = signal(false);
export const engine = signal<{ up: boolean; error?: string | undefined }>({ up: true });
export const problems = signal<readonly AppProblem[]>([]);
export const host = signal<HostStrip | undefined>(undefined);
export const server = signal<Overview["server"] | undefined>(undefined);
export const deploys = signal<readonly Deploy[]>([]);
/** When the last figures came: charts that end now ask for more. */
export const tickedAt = signal("");
export const activity = signal<readonly Activity[]>([]);
export const operations = signal<ReadonlyMap<string, Operation>>(new Map());

const deploysMax = 8;
const activityMax = 500;
const operationsMax = 100;
const sparkPoints = 60;

/** The worst first, then by name. */
export const apps = computed(() =>
  [...held.value.values()].sort(
    (a, b) => appStates.indexOf(b.state) - appStates.indexOf(a.state) || keyText(a).localeCompare(keyText(b)),
  ),
);

export function appOf(scope: string, name: string): App | undefined {
  for (const app of held.value.values()) if (app.scope === scope && app.name === name) return app;
  return undefined;
}

export function takeOverview(overview: Overview): void {
  batch(() => {
    held.value = byKey(overview.apps);
    problems.value = overview.problems;
    host.value = overview.host;
    server.value = overview.server;
    deploys.value = overview.deploys;
    engine.value = overview.engine;
    known.value = true;
  });
}

/** How each message of the stream changes it. */
export const hearers: Hearers = {
  snapshot({ apps: all, problems: found, engine_up: up }) {
    batch(() => {
      held.value = byKey(all.map((app) => withSparks(app, held.value.get(keyText(app)))));
      problems.value = found;
      engine.value = { up };
      known.value = true;
    });
  },
  app(app) {
    held.value = new Map(held.value).set(keyText(app), withSparks(app, held.value.get(keyText(app))));
    takeRelease(app);
  },
  gone(ref) {
    const left = new Map(held.value);
    left.delete(keyText(ref));
    held.value = left;
  },
  problems({ problems: found, engine_up: up }) {
    problems.value = found;
    engine.value = { up, error: up ? undefined : engine.value.error };
  },
  operation(operation) {
    const all = new Map(operations.value).set(operation.id, operation);
    for (const id of all.keys()) if (all.size > operationsMax) all.delete(id);
    operations.value = all;
  },
  metrics: takeMetrics,
  event(event) {
    activity.value = [event, ...activity.value].slice(0, activityMax);
  },
  hello: () => undefined,
  ping: () => undefined,
  reset: () => undefined,
};

function takeMetrics(tick: MetricsTick): void {
  batch(() => {
    tickedAt.value = tick.at;
    if (tick.host !== undefined) host.value = tick.host;
    const all = new Map(held.value);
    for (const figures of tick.apps) {
      const app = all.get(keyText(figures));
      if (app !== undefined) all.set(keyText(app), { ...app, ...withFigures(app, figures, tick.at) });
    }
    held.value = all;
  });
}

type Figures = StreamEvents["metrics"]["apps"][number];

/** The new figures, and the small lines one step longer. */
function withFigures({ sparks }: App, { usage, traffic }: Figures, at: string): Partial<App> {
  const now = {
    ...(usage === undefined ? {} : { usage }),
    ...(traffic === undefined ? {} : { traffic }),
  };
  if (sparks === undefined || Date.parse(at) < Date.parse(sparks.until) + sparks.step_seconds * 1000) return now;
  const longer = (points: readonly (number | null)[], next: number | undefined) =>
    [...points, next ?? null].slice(-sparkPoints);
  return {
    ...now,
    sparks: {
      ...sparks,
      until: at,
      cpu_percent: longer(sparks.cpu_percent, usage?.cpu_percent),
      memory_bytes: longer(sparks.memory_bytes, usage?.memory_bytes),
      rate: longer(sparks.rate, traffic?.rate),
      failed_rate: longer(sparks.failed_rate, traffic === undefined ? undefined : traffic.failed / traffic.seconds),
    },
  };
}

/** The newest release of each app, as the server tells them: nothing would end the row of an older one. */
function takeRelease({ release, kind, scope, name }: App): void {
  if (release === undefined) return;
  const deploy: Deploy = { ...release, app: { kind, scope, name } };
  const others = deploys.value.filter((one) => keyText(one.app) !== keyText(deploy.app));
  deploys.value = [deploy, ...others].sort((a, b) => b.started_at.localeCompare(a.started_at)).slice(0, deploysMax);
}

function withSparks(app: App, before: App | undefined): App {
  return app.sparks === undefined && before?.sparks !== undefined ? { ...app, sparks: before.sparks } : app;
}

const byKey = (all: readonly App[]) => new Map(all.map((app) => [keyText(app), app]));
