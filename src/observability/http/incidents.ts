import type { Principal } from "../../access/principal.ts";
import { sees } from "../../access/apps.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readCount, readParam } from "../../base/http/request.ts";
import { parseDuration } from "../../base/pure/duration.ts";
import { Failure } from "../../base/wire/failure.ts";
import { appWhy, getBudget, getIncident, listBudgets, listIncidents, putBudget } from "../api/incidents.ts";
import type { IncidentRoom } from "../service/incidents/create.ts";

const pageDefault = 50;
const pageMax = 500;
const daysBack = 30;
const dayMs = 86_400_000;
const minuteMs = 60_000;
const minutesDefault = 30;
const minutesMax = 1_440;

/** Incidents, timelines and survival budgets. */
export function mountIncidents(plane: Plane, room: IncidentRoom): void {
  mount(plane, listIncidents, ({ query: { scope, name, since, limit }, by }) => {
    const count = readCount("limit", limit, pageMax) ?? pageDefault;
    const filter = { ...(scope === undefined ? {} : { scope }), ...(name === undefined ? {} : { name }) };
    const all = room.list({ ...filter, backMs: backOf(since), limit: pageMax });
    return { incidents: all.filter((one) => sees(by, one)).slice(0, count) };
  });
  mount(plane, getIncident, async ({ params, by }) => {
    const id = readParam(params, "id");
    const incident = room.get(id);
    if (!sees(by, incident))
      throw new Failure("not_found", `there is no incident "${id}"; list them with: berth incidents`);
    const timeline = await room.timelineOf(incident);
    return { incident, ...(timeline === undefined ? {} : { timeline }) };
  });
  mount(plane, appWhy, (call) => {
    const { kind, at, minutes } = call.query;
    const beforeMs = (readCount("minutes", minutes, minutesMax) ?? minutesDefault) * minuteMs;
    return room.timeline({ ...seenApp(call), kind, at: timeOf(at), beforeMs });
  });
  mount(plane, listBudgets, async ({ query: { month }, by }) => {
    return { budgets: (await room.budgets(month)).filter((one) => sees(by, one)) };
  });
  mount(plane, getBudget, (call) => room.budget(seenApp(call), call.query.month));
  mount(plane, putBudget, (call) => room.setTarget(seenApp(call), call.body));
}

/** The app of the path. Fails `not_found` where the caller may not see it. */
function seenApp({ params, by }: { params: Record<"scope" | "name", string | null>; by: Principal }) {
  const app = { scope: readParam(params, "scope"), name: readParam(params, "name") };
  if (sees(by, app)) return app;
  throw new Failure("not_found", `there is no app "${app.scope}/${app.name}"; list them with: berth get`);
}

function backOf(text: string | undefined): number {
  const backMs = text === undefined ? daysBack * dayMs : parseDuration(text);
  if (backMs !== undefined) return backMs;
  throw new Failure(
    "invalid",
    `since: ${JSON.stringify(text)} is not a duration; write it like 24h or 7d, at most 24d`,
  );
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return at;
  throw new Failure("invalid", `at: ${JSON.stringify(text)} is not a time; write it like 2026-01-31T13:05:00Z`);
}
