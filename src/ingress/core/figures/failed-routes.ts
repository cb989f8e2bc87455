import type { FailedRoute } from "../../api/failed-share.ts";

/** Where the newest failed requests of each ingress went. */
interface FailedRoutes {
  add(site: string, request: { at: number; method: string; path: string }): void;
  /** Those since a time (epoch milliseconds), most of them first. */
  since(site: string, from: number): FailedRoute[];
}

interface Failed {
  at: number;
  route: string;
}

/** Routes that are shown of one ingress. */
const routesTold = 3;

/** `sitesMax`: ingresses that are remembered; `perSite`: requests of one of them. Older ones go. */
export function createFailedRoutes({ sitesMax, perSite }: { sitesMax: number; perSite: number }): FailedRoutes {
  const bySite = new Map<string, Failed[]>();
  return {
    add(site, { at, method, path }) {
      const list = bySite.get(site) ?? [];
      list.push({ at, route: `${method} ${routeOf(path)}` });
      // Cut in halves: a shift for each request of a storm would cost more than the storm.
      if (list.length > 2 * perSite) list.splice(0, list.length - perSite);
      bySite.delete(site);
      bySite.set(site, list);
      const [oldest] = bySite.size > sitesMax ? bySite.keys() : [];
      if (oldest !== undefined) bySite.delete(oldest);
    },
    since(site, from) {
      const recent = (bySite.get(site) ?? []).slice(-perSite).filter(({ at }) => at >= from);
      return [...Map.groupBy(recent, ({ route }) => route)]
        .map(([route, own]) => ({ route, failed: own.length }))
        .toSorted((one, other) => other.failed - one.failed)
        .slice(0, routesTold);
    },
  };
}

const [segmentMax, segmentsShown] = [40, 6];
/** What is another for each thing that is asked for: numbers, ids, digests. */
const idLike = /^(?=.*\d)[\da-f-]{6,}$|^\d+$|^[A-Za-z0-9_-]{20,}$/i;

/** The part of a path that many requests share: `/orders/:id/items`. */
export function routeOf(path: string): string {
  const parts = path.split("/", segmentsShown + 1).map((part) => {
    return part.length > segmentMax || idLike.test(part) ? ":id" : part;
  });
  return parts.length > segmentsShown ? `${parts.slice(0, segmentsShown).join("/")}/…` : parts.join("/");
}
