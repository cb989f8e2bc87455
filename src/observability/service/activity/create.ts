import { type Event, listEvents } from "../../../orchestration/api/events.ts";
import type { Activity, AuditRow } from "../../api/activity.ts";
import { activityOf, maySeeEvent } from "../../core/apps/activity.ts";
import { tokenNames } from "../tokens/tokens.ts";
import { isOfApp, pageBack } from "../paging.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { AuditEntry } from "../../store/records.ts";
import type { ObservabilityContext } from "../context.ts";

interface Page {
  limit: number;
  /** Rows before this number. */
  before: number | undefined;
  /** Epoch milliseconds. */
  since: number | undefined;
  app: string | undefined;
}

/** What happened, and what tokens did. */
export interface ActivityRoom {
  events(
    grant: Grant,
    page: Page & { type: string | undefined; actor: string | undefined },
  ): Promise<{ events: Activity[]; next?: string }>;
  audit(
    page: Page & { token: string | undefined; action: string | undefined },
  ): Promise<{ rows: AuditRow[]; next?: string }>;
}

/** Rows of one look, and looks for one page: a filter that fits few rows ends with where to go on. */
const batch = 1_000;
const looksMax = 20;

export function createActivityRoom({
  platform,
  store,
}: Pick<ObservabilityContext, "platform" | "store">): ActivityRoom {
  const client = platform.as("observability");
  const nameOf = tokenNames(store);
  const isOld = (at: number, since: number | undefined) => since !== undefined && at < since;
  return {
    async events(grant, { type = "", actor = "", app, since, limit, before }) {
      const { rows, next } = await pageBack<Event>(
        {
          ...{ limit, looksMax },
          read: async (edge) => {
            const after = edge === undefined ? undefined : Math.max(0, edge - batch - 1);
            return (await client.call(listEvents, { query: { after, limit: batch } })).events;
          },
          numberOf: ({ seq }) => seq,
          isTooOld: ({ at }) => isOld(Date.parse(at), since),
          isWanted: (event) =>
            maySeeEvent(grant, event) &&
            isOfApp(app, event) &&
            event.action.startsWith(type) &&
            event.actor.startsWith(actor),
        },
        before,
      );
      return { events: rows.map((event) => activityOf(event, nameOf)), ...(next === undefined ? {} : { next }) };
    },
    async audit({ token, action = "", app, since, limit, before }) {
      const { rows, next } = await pageBack<AuditEntry>(
        {
          ...{ limit, looksMax },
          read: async (edge) => store.audit.list({ limit: batch, before: edge }).toReversed(),
          numberOf: ({ seq }) => seq,
          isTooOld: ({ at }) => isOld(at, since),
          isWanted: (entry) =>
            (token === undefined || entry.actor === `pat:${token}`) &&
            entry.action.startsWith(action) &&
            isOfApp(app, subjectOf(entry)),
        },
        before,
      );
      return { rows: rows.map((entry) => rowOf(entry, nameOf(entry.actor))), ...(next === undefined ? {} : { next }) };
    },
  };
}

function rowOf(entry: AuditEntry, name: string | undefined): AuditRow {
  const { id, at, actor, ip, action, params, outcome, durationMs, requestId } = entry;
  const status = /^status (\d{3})\b/.exec(outcome)?.[1];
  return {
    ...{ id, at: new Date(at).toISOString(), actor, action, outcome },
    ...(name === undefined ? {} : { actor_name: name }),
    ...(ip === undefined ? {} : { ip }),
    ...subjectOf(entry),
    ...(Object.keys(params).length === 0 ? {} : { params: { ...params } }),
    ...(status === undefined ? {} : { status: Number(status) }),
    ...{ duration_ms: durationMs, request_id: requestId },
  };
}

/** What `PUT /api/pat/v1/alerts/rules/:name` was about, from the path of the request; of other entries the app itself. */
function subjectOf({
  action,
  target,
}: Pick<AuditEntry, "action" | "target">): Pick<AuditRow, "kind" | "scope" | "name"> {
  const [, pattern] = action.split(" ", 2);
  const given = target.split("/");
  if (pattern === undefined || !pattern.startsWith("/")) {
    const [scope, name] = given;
    return { scope: scope === "" ? undefined : scope, name };
  }
  const wordOf = (...names: string[]) =>
    names.map((name) => given[pattern.split("/").indexOf(`:${name}`)]).find((word) => word !== undefined);
  return { kind: wordOf("kind"), scope: wordOf("scope"), name: wordOf("name", "id", "person", "host", "instance") };
}
