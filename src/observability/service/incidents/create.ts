import { isoTime } from "../../../base/pure/iso-time.ts";
import { schemaReader } from "../../../base/wire/read-body.ts";
import { listManifests } from "../../../orchestration/api/apply.ts";
import { podKinds } from "../../../orchestration/api/manifest.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { type Budget, BudgetBody, type Incident, type Timeline } from "../../api/incidents.ts";
import type { Facts } from "../../core/alerts/facts.ts";
import { budgetOf, monthOf } from "../../core/incidents/budget.ts";
import { type Joined, joinIncidents } from "../../core/incidents/join.ts";
import type { AlertParts } from "../alert-parts.ts";
import { createOutageRoom } from "./outages.ts";
import { type Asked, episodeOf, tellTimeline } from "./timeline.ts";

interface AppPlace {
  scope: string;
  name: string;
}

export interface IncidentRoom {
  take(facts: Facts): Promise<void>;
  /** Newest first. */
  list(filter: Partial<AppPlace> & { backMs: number; limit: number }): Incident[];
  /** Fails `not_found`. */
  get(id: string): Incident;
  timeline(asked: Asked): Promise<Timeline>;
  /** Undefined where its app is gone. */
  timelineOf(incident: Incident): Promise<Timeline | undefined>;
  /** Budgets of every app. Fails `invalid` for what is not a month. */
  budgets(month: string | undefined): Promise<Budget[]>;
  budget(app: AppPlace, month: string | undefined): Promise<Budget>;
  setTarget(app: AppPlace, body: unknown): Promise<Budget>;
}

const episodesRead = 5_000;
const readBody = schemaReader(BudgetBody);

export function createIncidents(parts: AlertParts): IncidentRoom {
  const { store, clock, limits } = parts;
  const outages = createOutageRoom(parts);
  const joined = ({ scope, name, since }: Partial<AppPlace> & { since: number }): Joined[] => {
    const now = clock.now();
    const episodes = store.alerts.history({ scope, name, since, limit: episodesRead }).map(episodeOf);
    const spans = store.outages.between(
      { ...(scope === undefined ? {} : { scope }), ...(name === undefined ? {} : { name }) },
      since,
      now + 1,
    );
    return joinIncidents(episodes, spans, { gapMs: limits.incidentGapMs, now });
  };
  const view = (incident: Joined) => viewOf(parts, incident);
  return {
    take: outages.take,
    list: ({ limit, backMs, ...filter }) =>
      joined({ ...filter, since: clock.now() - backMs })
        .slice(0, limit)
        .map(view),
    get(id) {
      const found = joined({ since: 0 }).find((incident) => incident.id === id);
      if (found === undefined) {
        throw new Failure("not_found", `there is no incident "${id}"; list them with: berth incidents`);
      }
      return view(found);
    },
    timeline: (asked) => tellTimeline(parts, asked),
    async timelineOf({ scope, name, from, seconds }) {
      if (scope === undefined || name === undefined) return undefined;
      const at = Date.parse(from) + seconds * 1_000;
      const beforeMs = limits.timelineMs + seconds * 1_000;
      return tellTimeline(parts, { scope, name, at, beforeMs }).catch(() => undefined);
    },
    async budgets(month) {
      const apps = await appsOf(parts);
      return apps.map((app) => budgetFor(parts, app, month));
    },
    async budget(app, month) {
      await requireApp(parts, app);
      return budgetFor(parts, app, month);
    },
    async setTarget(app, given) {
      const body = readBody(given);
      await requireApp(parts, app);
      await store.write((nouns) => nouns.outages.putTarget(app, body.target_percent ?? undefined));
      return budgetFor(parts, app, undefined);
    },
  };
}

async function appsOf({ client }: AlertParts): Promise<AppPlace[]> {
  const manifests = await client.call(listManifests, { query: {} });
  const apps = manifests.filter(({ kind }) => podKinds.some((known) => known === kind));
  return apps.map(({ scope = "", name }) => ({ scope, name }));
}

async function requireApp(parts: AlertParts, { scope, name }: AppPlace): Promise<void> {
  const apps = await appsOf(parts);
  if (apps.some((app) => app.scope === scope && app.name === name)) return;
  throw new Failure("not_found", `there is no app "${scope}/${name}"; list them with: berth get`);
}

function budgetFor({ store, clock, limits }: AlertParts, app: AppPlace, text: string | undefined): Budget {
  const now = clock.now();
  const month = monthOf(text ?? isoTime(now).slice(0, 7));
  if (month === undefined) throw new Failure("invalid", `month: "${text}" is not a month; write it like 2026-01`);
  const own = store.outages.target(app);
  const target = { percent: own ?? limits.availabilityPercent, isDefault: own === undefined };
  return budgetOf({ ...app, month, target, outages: store.outages.between(app, month.from, month.to), now });
}

function viewOf({ clock, store }: AlertParts, incident: Joined): Incident {
  const { id, scope, name, title, severity, from, to, downMs, failedRequests, episodes } = incident;
  const now = clock.now();
  const spans =
    scope === undefined || name === undefined ? [] : store.outages.between({ scope, name }, from, (to ?? now) + 1);
  const causes = spans.map(({ cause, causeText, causeRef, from: at }) => ({
    ...{ kind: cause, text: causeText, at: isoTime(at) },
    ...(causeRef === undefined ? {} : { ref: causeRef }),
  }));
  return {
    id,
    ...(name === undefined ? {} : { scope: scope ?? "", name }),
    ...{ title, severity, state: to === undefined ? "open" : "over", from: isoTime(from) },
    ...(to === undefined ? {} : { to: isoTime(to) }),
    seconds: Math.round(((to ?? now) - from) / 1_000),
    down_seconds: Math.round(downMs / 1_000),
    failed_requests: failedRequests,
    alerts: episodes.map((alert) => ({
      ...{
        id: alert.id,
        rule: alert.rule,
        severity: alert.severity,
        title: alert.title,
        fired_at: isoTime(alert.from),
      },
      ...(alert.to === undefined ? {} : { resolved_at: isoTime(alert.to) }),
    })),
    causes,
  };
}
