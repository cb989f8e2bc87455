import type { CertificateView } from "../../../ingress/api/certificates.ts";
import type { IngressSite } from "../../../ingress/api/ingress.ts";
import type { SiteTraffic } from "../../../ingress/api/traffic.ts";
import type { AppHost, AppTraffic } from "../../api/app-model.ts";

/** Hosts by the app that they lead to, as `SCOPE/NAME`. */
export function hostsByApp(
  sites: readonly IngressSite[],
  certificates: readonly CertificateView[],
): Map<string, AppHost[]> {
  const found = new Map<string, AppHost[]>();
  for (const site of sites) {
    const hosts = site.hosts.map((host) => hostOf(site, host, certificates));
    found.set(site.target, [...(found.get(site.target) ?? []), ...hosts]);
  }
  return found;
}

function hostOf(site: IngressSite, host: string, certificates: readonly CertificateView[]): AppHost {
  const { paths, tls, ingress } = site;
  const certificate = tls ? certificates.find(({ names }) => names.some((name) => covers(name, host))) : undefined;
  const [path = "/"] = paths;
  return {
    host,
    paths,
    tls,
    url: `${tls ? "https" : "http"}://${host}${path.startsWith("/") ? path : "/"}`,
    ingress,
    ...(certificate === undefined ? {} : { certificate: certificateOf(certificate) }),
  };
}

function certificateOf({ state, not_after, issuer, error }: CertificateView): NonNullable<AppHost["certificate"]> {
  return {
    state,
    not_after,
    issuer,
    error,
  };
}

/** A wildcard stands for exactly one label. */
function covers(name: string, host: string): boolean {
  if (name === host) return true;
  return name.startsWith("*.") && host.slice(host.indexOf(".") + 1) === name.slice(2) && host.includes(".");
}

/** Requests of the last minute by app, over all ingresses that lead to it. */
export function trafficByApp(
  sites: readonly Pick<IngressSite, "ingress" | "target">[],
  traffic: { seconds: number; sites: readonly SiteTraffic[] },
): Map<string, AppTraffic> {
  const targets = new Map(sites.map(({ ingress, target }) => [ingress, target]));
  const groups = Map.groupBy(traffic.sites, ({ ingress }) => targets.get(ingress) ?? "");
  groups.delete("");
  return new Map([...groups].map(([app, rows]) => [app, sumOf(rows, traffic.seconds)]));
}

function sumOf(rows: readonly SiteTraffic[], seconds: number): AppTraffic {
  const busiest = rows.reduce((a, b) => (b.requests > a.requests ? b : a));
  const slowest = Math.max(...rows.map(({ p99_ms }) => p99_ms ?? -1));
  return {
    seconds,
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
    rate: rows.reduce((sum, { rate }) => sum + rate, 0),
    failed: rows.reduce((sum, { failed }) => sum + failed, 0),
    ...(busiest.p50_ms === undefined ? {} : { p50_ms: busiest.p50_ms }),
    ...(slowest < 0 ? {} : { p99_ms: slowest }),
  };
}
