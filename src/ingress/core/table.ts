/**
 * What the proxy serves, computed from manifests, endpoints and certificates, complete each time. Everything below the
 * table (configuration text, maps, socket commands) is derived from it; nothing reads a manifest any more.
 */
export interface Table {
  listen: Listen;
  /** In the order of their ids. Ids are unique. */
  sites: Site[];
  /** In the order of their ids. Ids are unique among sites and TCP sites together. */
  tcp: TcpSite[];
  certificates: Certificate[];
  /** Answers to HTTP-01 challenges of certificate authorities, served for every host on plain HTTP and TLS. */
  challenges: Challenge[];
  /** Handshakes for names without a certificate wait until the server has decided; absent: they are refused. */
  onDemand?: true;
}

export interface Challenge {
  /** Made of `[A-Za-z0-9_-]`. */
  token: string;
  keyAuthorization: string;
}

export interface Listen {
  /** `host:port`, `[::]:port`; empty: plain HTTP is off. */
  http: string[];
  /** Like `http`, for TLS. */
  https: string[];
  /** Networks (CIDR) whose X-Forwarded-* headers are believed: a CDN or load balancer in front. */
  trustedProxies: string[];
  /** Networks (CIDR) that begin each connection with a PROXY protocol header. */
  proxyProtocolFrom: string[];
}

/** One ingress: hosts and paths that lead to the replicas of one resource. */
export interface Site {
  /** `<scope>/<name>` of the ingress; figures are kept under it. */
  id: string;
  /** Lower case: `shop.example.com`, or `*.example.com`, which stands for one or more labels. Never empty. */
  hosts: string[];
  /** Never empty; the whole host is `/`. */
  paths: SitePath[];
  upstreams: Upstream[];
  options: SiteOptions;
}

export interface SitePath {
  /** `/`, or `/api` without a slash at the end; matches itself and everything below it. */
  prefix: string;
  /** Take the prefix off before the request is passed on. */
  strip: boolean;
}

/** One replica. Of two upstreams with the same `id`, the proxy never sees the second one. */
export interface Upstream {
  /** Id of the container: a new container is a new upstream, even at the same address. */
  id: string;
  /** Replica as people know it: `k3x9a`, or the ordinal of a statefulset. */
  replica: string;
  /** IP address. */
  address: string;
  port: number;
  /** 0 to 256, relative to the other upstreams of the site. */
  weight: number;
  /** Gets no new requests; those under way end. */
  isLeaving: boolean;
}

export interface SiteOptions {
  balance: "round_robin" | "least_conn" | "random" | "ip_hash";
  /** Name of the cookie that binds a client to a replica. */
  stickyCookie: string | undefined;
  /** What replicas speak. `https`: TLS, the certificate is not checked. */
  protocol: "http" | "h2c" | "https";
  /** Leads to a part of this server: the request says that it came through the ingress, and waits while that part restarts. */
  isOwn?: true;
  /** Begin connections to replicas with a PROXY protocol header, version 2. */
  sendProxyProtocol: boolean;
  tls: SiteTls | undefined;
  /** Whole hosts that answer with a redirect to another host, path and query kept. */
  redirects: { from: string; to: string; status: 301 | 302 | 307 | 308 }[];
  requestHeaders: HeaderChanges;
  responseHeaders: HeaderChanges;
  compress: boolean;
  /** Users and the hashes of their passwords as crypt(3) knows them; empty: no sign-in. */
  basicAuth: { user: string; hash: string }[];
  /** CIDR. When not empty, only these clients are served. */
  allow: string[];
  /** CIDR. */
  deny: string[];
  /** Requests of one client address in the period; more are answered with 429. */
  rateLimit: { requests: number; periodMs: number } | undefined;
  /** Every request is answered with 503 and the maintenance page. */
  isInMaintenance: boolean;
  limits: SiteLimits;
  hold: SiteHold;
  accessLog: "off" | "sampled" | "all";
  /** HTML pages for visitors by status, in place of the built-in ones. */
  errorPages: Partial<Record<ErrorPageStatus, string>>;
}

/** How requests wait while no replica is ready. */
export interface SiteHold {
  forMs: number;
  requestsMax: number;
  /** Nothing runs: the proxy tells the server of a request, so that it starts a replica. */
  isAsleep?: boolean;
}

export type ErrorPageStatus = 403 | 404 | 413 | 429 | 502 | 503 | 504;

export interface SiteTls {
  /** Plain requests are redirected to https. */
  redirect: boolean;
  hsts: { maxAgeSeconds: number; includeSubdomains: boolean; preload: boolean } | undefined;
}

export interface HeaderChanges {
  /** Names are header tokens; values hold no control characters. */
  set: { name: string; value: string }[];
  remove: string[];
}

interface SiteLimits {
  /** Largest request body in bytes; undefined: no limit. Larger ones are answered with 413. */
  bodyBytes: number | undefined;
  /** Largest head of a request in bytes; absent: the least that every site has. */
  headBytes?: number;
  /** How long a client may pause; left out: `defaultTimes.clientMs`. The largest of all sites applies to each. */
  clientMs?: number;
  /** Until a replica has begun its answer, and between two parts of it. */
  responseMs: number;
  /** Silence after which a WebSocket or other upgraded connection is closed. */
  tunnelMs: number;
  /** Requests to one replica at a time; undefined: no limit. More wait in a queue. */
  connectionsPerReplica: number | undefined;
}

/** A port of its own whose connections are passed on as they are. */
export interface TcpSite {
  id: string;
  /** `host:port` */
  listen: string;
  upstreams: Upstream[];
  balance: SiteOptions["balance"];
  sendProxyProtocol: boolean;
  /** TLS ends at the proxy, with the certificate of this name. */
  tlsName: string | undefined;
  idleMs: number;
  /** CIDR. When not empty, only these clients are let in; connections of others are closed. */
  allow: string[];
  /** CIDR. Connections of these clients are closed. */
  deny: string[];
  /** Connections to one replica at a time; undefined: no limit. More wait in a queue. */
  connectionsPerReplica: number | undefined;
  /** How connections wait for an app that is asleep or is being started; absent: they do not. */
  hold?: SiteHold;
}

/** One certificate with its chain and key, in one PEM text without blank lines. */
export interface Certificate {
  /** File name without extension, of `[a-z0-9._-]`; stays the same through renewals. */
  id: string;
  /** Lower-case host names, wildcards included. */
  names: string[];
  pem: string;
}
