import type { ManifestKey, PodKind } from "../../orchestration/api/manifest.ts";
import type { Traffic as Span } from "../../orchestration/api/receipt.ts";
import type { IngressTraffic, SiteTraffic } from "../api/traffic.ts";
import { type AccessLine, parseAccessLine } from "../core/access-line.ts";
import type { Running } from "../core/change.ts";
import { createAttribution, type Place } from "../core/figures/attribution.ts";
import { createFigures, type Figures, mergeFigures } from "../core/figures/figures.ts";
import { quantile } from "../../base/pure/histogram.ts";
import { createRecent } from "../core/figures/recent.ts";
import { requestSeen } from "../core/figures/request-seen.ts";
import { type IngressManifest, readIngress } from "../core/ingress-spec.ts";
import { targetKind } from "../core/upstreams.ts";

/** What visitors saw: figures of the last minutes for each ingress and replica. */
export interface Traffic {
  /** One line of the proxy. */
  take(line: string): void;
  /** All ingresses that lead to the resource, in the span; undefined when none does. */
  of(key: ManifestKey, asked: Asked): Omit<Span, "seconds"> | undefined;
  lastMinute(): Omit<IngressTraffic, "dropped">;
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

export interface TrafficLimits {
  /** Seconds that figures are kept for. */
  secondsKept: number;
  /** Sums of one second of one ingress; beyond it, older seconds go. */
  sumsMax: number;
  /** Replicas of one ingress that are counted one by one. */
  replicasCounted: number;
  /** Replicas that left whose last answers are still theirs. */
  leftMax: number;
}

const minute = 60;

export function createTraffic(options: TrafficOptions): Traffic {
  const { running, limits } = options;
  const attribution = createAttribution(limits.leftMax);
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
      recent.record({ ...seen, at: Math.min(seen.at, options.now()) });
      options.onRequest(line, place);
    },
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
    lastMinute() {
      const to = Math.floor(options.now() / 1_000) * 1_000;
      const sites = recent.sites().map((site) => viewOf(site, recent.between({ site, from: to - minute * 1_000, to })));
      return { seconds: minute, sites: sites.filter(({ requests }) => requests > 0) };
    },
  };
}

/** Ids of the ingresses whose requests a resource answers. Connections to TCP ports are not requests. */
function sitesOf({ kind, scope, name }: ManifestKey, options: Pick<TrafficOptions, "ingresses" | "serviceKinds">) {
  const kinds = options.serviceKinds(scope, name);
  const leading = options.ingresses().filter((manifest) => {
    if (manifest.scope !== scope) return false;
    const { spec } = readIngress(manifest);
    const isOurs = (spec.service ?? manifest.name) === name && targetKind(kinds, spec.ordinal) === kind;
    return isOurs && spec.tcp === undefined;
  });
  return leading.map((manifest) => `${manifest.scope}/${manifest.name}`);
}

function quantiles({ latency }: Figures): { p50_ms?: number; p99_ms?: number } {
  const [p50, p99] = [quantile(latency, 0.5), quantile(latency, 0.99)];
  return { ...(p50 === undefined ? {} : { p50_ms: p50 }), ...(p99 === undefined ? {} : { p99_ms: p99 }) };
}

function viewOf(ingress: string, figures: Figures): SiteTraffic {
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
    ...quantiles(figures),
    held,
    retried,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
  };
}
