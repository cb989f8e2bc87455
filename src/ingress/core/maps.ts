import { anyHost } from "../../base/pure/hosts.ts";
import type { Assignment, Paths } from "./change.ts";
import { type MapName, mapPath } from "./layout.ts";
import { hostName, mapKey, mapValue, pathPrefix, wholeNumber } from "./quote.ts";
import { remembered } from "./remember.ts";
import type { Site, SiteHold, SitePath, Table } from "./table.ts";

/** Key → value. */
export type Entries = Map<string, string>;

/** Backend that answers with a redirect to another host. */
export const redirectBackend = "redirects";

/** Longest time that a spec may name, in milliseconds; the proxy refuses more. */
const timeMaxMs = 2 ** 31 - 1;

/** Letters that a route carries; each rule that needs one looks for it. */
export const flags = { redirect: "r", maintenance: "m", hsts: "h", timeouts: "t", strip: "s" } as const;

/** Those of the configuration; a site with the same ones needs no entry. */
export const defaultTimes = { responseMs: 300_000, clientMs: 300_000, tunnelMs: 86_400_000 };

/** Content of every map. */
export function mapsOf(table: Table, assignment: Assignment): Record<MapName, Entries> {
  const maps: Record<MapName, Entries> = {
    routes: new Map(),
    hsts: new Map(),
    "server-timeout": new Map(),
    "tunnel-timeout": new Map(),
    hold: new Map(),
    challenges: new Map(),
    names: new Map(),
    parted: new Map(),
  };
  for (const site of table.sites) {
    const backend = assignment.backends[site.id];
    if (backend === undefined) continue;
    for (const [map, entries] of Object.entries(siteEntries(site, backend, httpsPort(table))))
      for (const [key, value] of entries) maps[map as MapName].set(key, value);
  }
  for (const { id, hold } of table.tcp) {
    const backend = assignment.backends[id];
    if (backend !== undefined && hold !== undefined) maps.hold.set(backend, holdValue(hold));
  }
  for (const { token, keyAuthorization } of table.challenges)
    maps.challenges.set(mapKey(token, "token of a challenge"), mapValue(keyAuthorization, "answer to a challenge"));
  if (table.onDemand === true)
    for (const { names } of table.certificates)
      for (const name of names) maps.names.set(mapKey(hostName(name, "name of a certificate"), "name"), "1");
  return maps;
}

/** Port that visitors see, as it is written behind a host: empty for 443. */
export function httpsPort(table: Table): string | undefined {
  const port = table.listen.https[0]?.match(/:(\d+)$/)?.[1];
  return port === undefined || port === "443" ? port && "" : `:${port}`;
}

const siteEntries = remembered(entriesOf);

/** What one site puts into the maps. */
export function entriesOf(site: Site, backend: string, port: string | undefined): Partial<Record<MapName, Entries>> {
  const { tls, limits, hold } = site.options;
  const time = (ms: number) => wholeNumber(Math.max(1, ms), timeMaxMs, `time of ${site.id}`);
  const one = (value: string): Entries => new Map([[backend, value]]);
  return {
    routes: routesOf(site, backend, port),
    parted: partedHosts(site),
    ...(tls?.hsts === undefined ? {} : { hsts: one(hstsValue(tls.hsts)) }),
    ...(hasTimes(site) ? { "server-timeout": one(time(limits.responseMs)) } : {}),
    ...(hasTimes(site) ? { "tunnel-timeout": one(time(limits.tunnelMs)) } : {}),
    hold: one(holdValue(hold)),
  };
}

function holdValue({ forMs, requestsMax, isAsleep = false }: SiteHold): string {
  const bounds = `${wholeNumber(forMs, timeMaxMs, "hold")} ${wholeNumber(requestsMax, 1_000_000, "hold")}`;
  return isAsleep ? `${bounds} asleep` : bounds;
}

function routesOf(site: Site, backend: string, port: string | undefined): Entries {
  const entries: Entries = new Map();
  for (const { from, to, status } of site.options.redirects) {
    const scheme = site.options.tls === undefined || port === undefined ? "//" : "https://";
    const place = `${scheme}${hostName(to, "host of a redirect")}${scheme === "//" ? "" : port}`;
    entries.set(
      mapKey(`${hostName(from, "host of a redirect")}/`, "redirect"),
      `${redirectBackend}|${status}|${place}`,
    );
  }
  for (const host of site.hosts) {
    for (const path of site.paths) {
      const key = `${host === anyHost ? host : hostName(host, "host")}${pathPrefix(path.prefix, "path") === "/" ? "" : path.prefix}/`;
      entries.set(
        mapKey(key, "path"),
        mapValue(routeValue({ site, backend, path, canRedirect: port !== undefined }), "path"),
      );
    }
  }
  return entries;
}

/** Hosts of which this site has a part: some of their paths lead to another site, or to none. */
function partedHosts({ hosts, paths }: Site): Entries {
  const isPart = paths.some(({ prefix }) => prefix !== "/");
  return new Map(isPart ? hosts.map((host) => [host === anyHost ? host : hostName(host, "host"), "1"]) : []);
}

/** `p7`, or `p7|rh`, or `p7|rs|/api`. */
function routeValue(of: { site: Site; backend: string; path: SitePath; canRedirect: boolean }): string {
  const { tls, isInMaintenance } = of.site.options;
  const strips = of.path.strip && of.path.prefix !== "/";
  const letters = [
    tls?.redirect === true && of.canRedirect ? flags.redirect : "",
    isInMaintenance ? flags.maintenance : "",
    tls?.hsts === undefined ? "" : flags.hsts,
    hasTimes(of.site) ? flags.timeouts : "",
    strips ? flags.strip : "",
  ].join("");
  return [of.backend, ...(letters === "" ? [] : [letters]), ...(strips ? [of.path.prefix] : [])].join("|");
}

function hasTimes({ options: { limits } }: Site): boolean {
  return limits.responseMs !== defaultTimes.responseMs || limits.tunnelMs !== defaultTimes.tunnelMs;
}

function hstsValue(hsts: { maxAgeSeconds: number; includeSubdomains: boolean; preload: boolean }): string {
  const age = wholeNumber(hsts.maxAgeSeconds, Number.MAX_SAFE_INTEGER, "HSTS");
  return [
    `max-age=${age}`,
    ...(hsts.includeSubdomains ? ["includeSubDomains"] : []),
    ...(hsts.preload ? ["preload"] : []),
  ].join("; ");
}

/** Files of all maps. */
export function mapFiles(maps: Record<MapName, Entries>, paths: Paths): [string, string][] {
  return Object.entries(maps).map(([map, entries]) => [
    mapPath(paths, map as MapName),
    [...entries].map(([key, value]) => `${key} ${value}\n`).join(""),
  ]);
}
