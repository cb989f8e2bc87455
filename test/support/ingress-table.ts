import type { Site, SiteOptions, Table, TcpSite, Upstream } from "../../src/ingress/core/table.ts";

export const plainOptions: SiteOptions = {
  balance: "round_robin",
  stickyCookie: undefined,
  protocol: "http",
  sendProxyProtocol: false,
  tls: undefined,
  redirects: [],
  requestHeaders: { set: [], remove: [] },
  responseHeaders: { set: [], remove: [] },
  compress: false,
  basicAuth: [],
  allow: [],
  deny: [],
  rateLimit: undefined,
  isInMaintenance: false,
  limits: { bodyBytes: undefined, responseMs: 300_000, tunnelMs: 86_400_000, connectionsPerReplica: undefined },
  hold: { forMs: 300, requestsMax: 100 },
  accessLog: "off",
  errorPages: {},
};

export function upstream(port: number, changed: Partial<Upstream> = {}): Upstream {
  return {
    id: `container-${port}`,
    replica: `r${port}`,
    address: "127.0.0.1",
    port,
    weight: 100,
    isLeaving: false,
    ...changed,
  };
}

/** A site for `<name>.test`. */
export function site(
  name: string,
  upstreams: Upstream[],
  changed: Partial<Omit<Site, "options">> & { options?: Partial<SiteOptions> } = {},
): Site {
  return {
    id: `shop/${name}`,
    hosts: [`${name}.test`],
    paths: [{ prefix: "/", strip: false }],
    upstreams,
    ...changed,
    options: { ...plainOptions, ...changed.options },
  };
}

export function tcpSite(name: string, listen: string, changed: Partial<TcpSite> = {}): TcpSite {
  return {
    id: `shop/${name}`,
    listen,
    upstreams: [],
    balance: "round_robin",
    sendProxyProtocol: false,
    tlsName: undefined,
    idleMs: 60_000,
    allow: [],
    deny: [],
    connectionsPerReplica: undefined,
    ...changed,
  };
}

export function table(sites: Site[], changed: Partial<Table> & { http?: string; https?: string } = {}): Table {
  const { http, https, ...rest } = changed;
  return {
    listen: {
      http: http === undefined ? [] : [http],
      https: https === undefined ? [] : [https],
      trustedProxies: [],
      proxyProtocolFrom: [],
    },
    sites,
    tcp: [],
    certificates: [],
    challenges: [],
    ...rest,
  };
}
