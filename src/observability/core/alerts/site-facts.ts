import { areFailing, type FailedRoute } from "../../../ingress/api/failed-share.ts";
import type { SiteTraffic } from "../../../ingress/api/traffic.ts";
import type { SiteFact } from "./facts.ts";

/** The app that each ingress leads to, `SCOPE/NAME` by `SCOPE/NAME`. */
type Targets = ReadonlyMap<string, string>;

type Counted = Pick<SiteTraffic, "ingress" | "requests" | "failed" | "five_minutes" | "failed_routes" | "p99_ms">;

/** One fact for each app: visitors do not care by which ingress they came. */
export function siteFacts(sites: readonly Counted[], targets: Targets): SiteFact[] {
  return [...Map.groupBy(sites, ({ ingress }) => appOf(ingress, targets))].map(([app, own]) => {
    const [scope = "", name = ""] = app.split("/");
    const p99s = own.flatMap(({ p99_ms: p99 }) => p99 ?? []);
    return {
      ...{ scope, name, ...sumOf(own), fiveMinutes: sumOf(own.map(({ five_minutes: five }) => five)) },
      p99Ms: p99s.length === 0 ? undefined : Math.max(...p99s),
      failsAt: routeText(own.flatMap(({ failed_routes: routes }) => routes)),
    };
  });
}

/** A name of a plugin in the place of an app says nothing about whose requests they are. */
function appOf(ingress: string, targets: Targets): string {
  const target = targets.get(ingress) ?? ingress;
  return target.includes("/") ? target : ingress;
}

function sumOf(rows: readonly { requests: number; failed: number }[]) {
  return {
    requests: rows.reduce((sum, row) => sum + row.requests, 0),
    failed: rows.reduce((sum, row) => sum + row.failed, 0),
  };
}

/** Below this many requests a minute tells too little, and the last five are looked at. */
const minuteTells = 20;

/** How many percent of its requests an app fails, where that is above `percent`, and in words; undefined where visitors are well. */
export function failingShare(site: SiteFact, percent: number): { share: number; detail: string } | undefined {
  const isBusy = site.requests >= minuteTells;
  const span = isBusy ? site : site.fiveMinutes;
  if (!areFailing(span, percent)) return undefined;
  const count = `${span.failed} of ${span.requests} requests of the last ${isBusy ? "minute" : "5 minutes"}`;
  const detail = site.failsAt === undefined ? count : `${count}, ${site.failsAt}`;
  return { share: (100 * span.failed) / span.requests, detail };
}

function routeText(routes: readonly FailedRoute[]): string | undefined {
  const [most] = routes.toSorted((one, other) => other.failed - one.failed);
  return most && `${routes.length === 1 ? "all" : "most"} at ${most.route}`;
}
