import { endpoint, wholeNumber } from "./quote.ts";
import type { Site, TcpSite, Upstream } from "./table.ts";

export type AnySite = Site | TcpSite;

export function isHttp(site: AnySite): site is Site {
  return "options" in site;
}

/** What a live server never changes: where it is and how it is spoken to. Another text is another server. */
export function identityWords(site: AnySite, upstream: Upstream): string {
  const words = [endpoint(upstream.address, upstream.port, `address of replica ${upstream.replica}`)];
  if (isHttp(site)) words.push(...protocolWords(site));
  const proxyHeader = isHttp(site) ? site.options.sendProxyProtocol : site.sendProxyProtocol;
  if (proxyHeader) words.push("send-proxy-v2");
  return words.join(" ");
}

function protocolWords(site: Site): string[] {
  switch (site.options.protocol) {
    case "http":
      return [];
    case "h2c":
      return ["proto h2"];
    case "https":
      return ["ssl verify none sni req.hdr(host),field(1,:)"];
  }
}

/** All words of a server line behind its name. */
export function serverWords(site: AnySite, upstream: Upstream): string {
  const limit = connectionsOf(site);
  const weight = wholeNumber(upstream.weight, 256, `weight of replica ${upstream.replica}`);
  return `${identityWords(site, upstream)} weight ${weight}${limit === 0 ? "" : ` maxconn ${limit}`}`;
}

/** Requests to one server at a time; 0: no limit. */
export function connectionsOf(site: AnySite): number {
  const { connectionsPerReplica: limit = 0 } = isHttp(site) ? site.options.limits : site;
  wholeNumber(limit, 1_000_000, "connections of one replica");
  return limit;
}

/** The upstreams of a site, each id once. */
export function upstreamsOf(site: AnySite): Map<string, Upstream> {
  const all = new Map<string, Upstream>();
  for (const upstream of site.upstreams) if (!all.has(upstream.id)) all.set(upstream.id, upstream);
  return all;
}
