import { ingressTargetKind } from "../../orchestration/api/ingress-target.ts";
import type { ManifestKey, PodKind } from "../../orchestration/api/manifest.ts";
import type { Traffic as Span } from "../../orchestration/api/receipt.ts";
import type { Answered, FailedRoute } from "../api/failed-share.ts";
import type { IngressTraffic, SiteTraffic } from "../api/traffic.ts";
import { type AccessLine, parseAccessLine } from "../core/access-line.ts";
import type { Running } from "../core/change.ts";
import { createAttribution, type Place } from "../core/figures/attribution.ts";
import { createFailedRoutes } from "../core/figures/failed-routes.ts";
import { createFigures, type Figures, isFailure, mergeFigures } from "../core/figures/figures.ts";
import type { RecentRequests } from "../core/site-troubles.ts";
import { quantile } from "../../base/pure/histogram.ts";
import type { TakenFigures } from "../api/taken-figures.ts";
import { createTally, type Tally } from "../core/figures/tally.ts";
import { createRecent } from "../core/figures/recent.ts";
import { requestSeen } from "../core/figures/request-seen.ts";
import { type IngressManifest, readIngress } from "../core/ingress-spec.ts";

/** What visitors saw: figures of the last minutes for each ingress and replica. */
export interface Traffic {
  /** One line of the proxy. */
  take(line: string): void;
  /** All ingresses that lead to the resource, in the span; undefined when none does. */
  of(key: ManifestKey, asked: Asked): Omit<Span, "seconds"> | undefined;
  lastMinute(): Omit<IngressTraffic, "dropped">;
  /** Requests of one ingress (`scope/name`) in the last seconds. */
  lately(site: string): RecentRequests;
  /** What was counted since this was last asked. */
  taken(): TakenFigures[];
}

interface Asked {
  /** Epoch milliseconds. */
  from: number;
  to: number;
  /** Only requests that one of these containers answered; undefined: all. */
  containers?: ReadonlySet<string>;
}

export interface TrafficOptions {
  /** Whether there is a proxy. Right after a start of the server it does not run yet, and serves nothing for a moment. */
  hasProxy(): boolean;
  /** What the proxy serves now. */
  running(): Running | undefined;
  ingresses(): IngressManifest[];
  serviceKinds(scope: string, name: string): readonly PodKind[];
  /** For the access log. */
  onRequest(line: AccessLine, place: Place): void;
  now(): number;
  limits: TrafficLimits;
}

interface TrafficLimits {
  /** Seconds that figures are kept for. */
  secondsKept: number;
  /** Sums of one second of one ingress; beyond it, older seconds go. */
  sumsMax: number;
  /** Replicas of one ingress that are counted one by one. */
  replicasCounted: number;
  /** Replicas that left whose last answers are still theirs. */
  leftMax: number;
  /** Hosts of one ingress that are counted one by one for the metrics. */
  hostsCounted: number;
  /** Ingresses whose failed requests are counted by their path, and how many of each. */
  failedSitesMax: number;
  failedRoutesKept: number;
}

const minute = 60;
/** Short, so that a fixed site soon counts as healthy. */
const latelySeconds = 30;

export function createTraffic(options: TrafficOptions): Traffic {
  const { running, limits } = options;
  const attribution = createAttribution(limits.leftMax);
  const failed = createFailedRoutes({ sitesMax: limits.failedSitesMax, perSite: limits.failedRoutesKept });
  const tally = createTally(limits.hostsCounted);
  const recent = createRecent({
    secondsKept: limits.secondsKept,
    sumsMax: limits.sumsMax,
    upstreamsMax: limits.replicasCounted,
  });

  return {
    take(text) {
      const line = parseAccessLine(text);
      if (line === undefined) return;
      attribution.learn(running());
      const place = attribution.find(line);
      if (place === undefined) return;
      const seen = requestSeen(line, place);
      // A clock that was set back must not make the next requests look old.
      const at = Math.min(seen.at, options.now());
      recent.record({ ...seen, at });
      if (isFailure(seen)) failed.add(place.site, { at, method: line.method, path: line.path });
      tally.add(seen, line.host);
      options.onRequest(line, place);
    },
    taken: () => tally.take().map((row) => takenOf(row, options)),
    of(key, { from, to, containers: upstreams }) {
      const ids = options.hasProxy() ? sitesOf(key, options) : [];
      if (ids.length === 0) return undefined;
      const sum = createFigures();
      for (const site of ids) {
        mergeFigures(sum, recent.between({ site, from, to, ...(upstreams === undefined ? {} : { upstreams }) }));
      }
      const { requests, failed } = sum;
      return { requests, failed, ...quantiles(sum) };
    },
    lately(site) {
      const to = options.now();
      return { seconds: latelySeconds, ...recent.answered(site, { from: to - latelySeconds * 1_000, to }) };
    },
    lastMinute() {
      const to = Math.floor(options.now() / 1_000) * 1_000;
      const sites = recent.sites().flatMap((site) => {
        const five = recent.answered(site, { from: to - 5 * minute * 1_000, to });
        if (five.requests === 0) return [];
        const failedRoutes = failed.since(site, to - 5 * minute * 1_000);
        return [viewOf(site, recent.between({ site, from: to - minute * 1_000, to }), { five, failedRoutes })];
      });
      return { seconds: minute, sites };
    },
  };
}

function takenOf(
  { site, host, figures }: ReturnType<Tally["take"]>[number],
  options: Pick<TrafficOptions, "ingresses" | "serviceKinds">,
): TakenFigures {
  const { requests, failed, held, bytesIn, bytesOut, byClass, latency } = figures;
  const [scope = "", ingress = ""] = site.split("/");
  const app = appOf(scope, ingress, options);
  return { ingress, app, scope, host, requests, failed, held, bytesIn, bytesOut, byClass, latency };
}

/** Whose requests an ingress takes; undefined where it is gone, or leads to nothing that is stored. */
function appOf(
  scope: string,
  ingress: string,
  { ingresses, serviceKinds }: Pick<TrafficOptions, "ingresses" | "serviceKinds">,
): ManifestKey | undefined {
  const manifest = ingresses().find((one) => one.scope === scope && one.name === ingress);
  if (manifest === undefined) return undefined;
  const { spec } = readIngress(manifest);
  const name = spec.service ?? manifest.name;
  const kind = ingressTargetKind(serviceKinds(scope, name), spec.ordinal);
  return kind === undefined ? undefined : { kind, scope, name };
}

/** Ids of the ingresses whose requests a resource answers. Connections to TCP ports are not requests. */
function sitesOf({ kind, scope, name }: ManifestKey, options: Pick<TrafficOptions, "ingresses" | "serviceKinds">) {
  const kinds = options.serviceKinds(scope, name);
  const leading = options.ingresses().filter((manifest) => {
    if (manifest.scope !== scope) return false;
    const { spec } = readIngress(manifest);
    const isOurs = (spec.service ?? manifest.name) === name && ingressTargetKind(kinds, spec.ordinal) === kind;
    return isOurs && spec.tcp === undefined;
  });
  return leading.map((manifest) => `${manifest.scope}/${manifest.name}`);
}

function quantiles({ latency }: Figures): { p50_ms?: number; p99_ms?: number } {
  const [p50, p99] = [quantile(latency, 0.5), quantile(latency, 0.99)];
  return { p50_ms: p50, p99_ms: p99 };
}

function viewOf(
  ingress: string,
  figures: Figures,
  { five, failedRoutes }: { five: Answered; failedRoutes: FailedRoute[] },
): SiteTraffic {
  const { requests, failed, held, retried, bytesIn, bytesOut, byClass } = figures;
  const [none, informational, success, redirection, clientError, serverError] = byClass;
  return {
    ingress,
    requests,
    rate: requests / minute,
    status: {
      "1xx": informational,
      "2xx": success,
      "3xx": redirection,
      "4xx": clientError,
      "5xx": serverError,
      none,
    },
    failed,
    five_minutes: five,
    failed_routes: failedRoutes,
    ...quantiles(figures),
    held,
    retried,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
  };
}
