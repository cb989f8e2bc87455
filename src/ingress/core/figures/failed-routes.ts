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
      // A copy: a part of a line would keep all of the line in memory.
      list.push({ at, route: Buffer.from(`${methodOf(method)} ${routeOf(path)}`).toString() });
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

const segmentsShown = 6;
const methodOf = (method: string) => (/^[A-Z-]{1,20}$/.test(method) ? method : "?");

/**
 * Alerts carry routes to other services, and links carry secrets: only what is built like a word of the app is shown. A word is
 * lower-case, upper-case or camel-case letters of ASCII, with two digits at its end at most.
 */
const isWord = (word: string) =>
  /^(?:[a-z]*|[A-Z]{2,8}|[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})*)\d{0,2}$/.test(word) && /^\D|^$/.test(word);
const isShown = (segment: string) => segment.length < 20 && segment.split(/[._-]/).every(isWord);

/** What follows one of these lets somebody in, even where it is built like a word. */
const beforeSecret =
  /(?:reset|password|verif|confirm|activat|invit|magic|token|secret|share|unsubscribe|otp|hooks?$|^keys?$|^codes?$)/i;

/** The part of a path that many requests share, without what is another for each visitor or thing: `/orders/:id/items`. */
export function routeOf(path: string): string {
  const parts = path.split("/", segmentsShown + 1);
  const shown = parts.map((part, at) => {
    const before = parts[at - 1] ?? "";
    const isSecret = part !== "" && beforeSecret.test(before) && !beforeSecret.test(part);
    return isShown(part) && !isSecret ? part : ":id";
  });
  return shown.length > segmentsShown ? `${shown.slice(0, segmentsShown).join("/")}/…` : shown.join("/");
}
