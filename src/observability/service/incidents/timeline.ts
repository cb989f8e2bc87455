import { isoTime } from "../../../base/pure/iso-time.ts";
import { listAccess } from "../../../ingress/api/access-log.ts";
import { getIngress } from "../../../ingress/api/ingress.ts";
import { podKinds } from "../../../orchestration/api/manifest.ts";
import { listReleases } from "../../../orchestration/api/releases.ts";
import { type Why, why } from "../../../orchestration/api/why.ts";
import { ApiError } from "../../../base/wire/client.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { Timeline } from "../../api/incidents.ts";
import { briefOf } from "../../core/alerts/brief.ts";
import { causesOf } from "../../core/incidents/causes.ts";
import type { Episode } from "../../core/incidents/join.ts";
import { timelineOf } from "../../core/incidents/timeline.ts";
import type { AlertRecord } from "../../store/alerts/records.ts";
import type { AlertParts } from "../alert-parts.ts";

export interface Asked {
  kind?: string | undefined;
  scope: string;
  name: string;
  /** The moment to explain; undefined: the last trouble. Epoch milliseconds. */
  at?: number | undefined;
  /** How far before it to begin. */
  beforeMs: number;
}

/** How far after the moment the timeline goes on: what was done about it belongs to the story. */
const afterMs = 10 * 60_000;
const alertsRead = 200;
const requestsRead = "1000";

/** One story of an app. Fails `ApiError` 404 for an app that there is not; what else cannot be asked for is named. */
export async function tellTimeline(parts: AlertParts, asked: Asked): Promise<Timeline> {
  const { client, store, clock } = parts;
  const { scope, name } = asked;
  const missing: string[] = [];
  const reasons = await client.call(why, { query: { kind: asked.kind, scope, name } });
  const now = clock.now();
  const episodes = store.alerts.history({ scope, name, limit: alertsRead }).map(episodeOf);
  const at = Math.min(asked.at ?? lastTrouble(reasons, episodes), now);
  const from = at - asked.beforeMs;
  const to = Math.min(now, at + afterMs);
  const optional = async <T>(noun: string, ask: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await ask();
    } catch (error) {
      missing.push(
        `${noun}: ${error instanceof ApiError || error instanceof Failure ? error.message : "not available"}`,
      );
      return undefined;
    }
  };
  const releases = isPodKind(reasons.kind)
    ? await optional("releases", async () => {
        return (await client.call(listReleases, { query: { kind: reasons.kind, scope, name } })).releases;
      })
    : [];
  const lines = await optional(
    "logs",
    async () => (await parts.sources.errorLines?.(`${scope}/${name}`, { from, to })) ?? [],
  );
  const failed = await optional("requests", () => failedRequests(parts, `${scope}/${name}`));
  return {
    scope,
    name,
    from: isoTime(from),
    to: isoTime(to),
    entries: timelineOf({
      ...{ from, to, why: reasons, releases: releases ?? [], episodes, failed: failed ?? [], others: lines ?? [] },
      outages: store.outages.between({ scope, name }, from, to),
    }),
    causes: causesOf(reasons, at),
    next: briefOf(reasons).next,
    missing,
  };
}

function isPodKind(kind: string): boolean {
  return podKinds.some((known) => known === kind);
}

/** The newest of the last alert that fired and of what `why` leads up to. */
function lastTrouble({ at }: Why, episodes: readonly Episode[]): number {
  const open = episodes.find(({ to }) => to === undefined);
  return open?.from ?? Math.max(Date.parse(at), episodes[0]?.from ?? 0);
}

/** From the access log of the ingresses that lead to the app, as far as they keep one. */
async function failedRequests({ client }: AlertParts, app: string) {
  const { sites } = await client.call(getIngress);
  const own = sites.filter(({ target }) => target === app).map(({ ingress }) => ingress);
  const lists = own.map((ingress) =>
    client.call(listAccess, { query: { ingress, status: "5xx", limit: requestsRead } }),
  );
  return (await Promise.all(lists)).flatMap(({ entries }) => entries);
}

export function episodeOf({ id, rule, severity, title, labels, firedAt, since, resolvedAt }: AlertRecord): Episode {
  const { scope, name } = labels;
  return { id, rule, severity, title, scope, name, from: firedAt ?? since, to: resolvedAt };
}
