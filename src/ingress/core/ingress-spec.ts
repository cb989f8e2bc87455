import { type IngressSpec as WrittenSpec, IngressSpec } from "../../orchestration/api/kinds/ingress.ts";
import { policies } from "../../orchestration/api/kinds/routing.ts";
import { routingDefaults } from "../../orchestration/api/kinds/routing-defaults.ts";
import type { Spec } from "../../orchestration/api/manifest.ts";
import { canonicalJson } from "../../base/pure/digest.ts";
import { parseDuration } from "../../base/pure/duration.ts";
import { anyHost, hostOk, hostsOf, plainLocation } from "../../base/pure/hosts.ts";
import { isNetwork } from "../../base/pure/ip.ts";
import { isPasswordHash } from "../../base/pure/password-hash.ts";
import { parseMemory } from "../../base/pure/quantity.ts";
import { readLenient } from "../../base/wire/read-lenient.ts";
import { hashPassword } from "./sha-crypt.ts";
import type { HeaderChanges, SiteOptions, SitePath, SiteTls } from "./table.ts";

/** A stored ingress. */
export interface IngressManifest {
  scope: string;
  name: string;
  spec: Spec;
}

/** The spec of an ingress as the service that routes understands it, defaults filled in. */
export interface ReadIngress {
  spec: WrittenSpec;
  /** Lower case; those that are host names. */
  hosts: string[];
  paths: SitePath[];
  options: SiteOptions;
  /**
   * Fields that say who may come in, and that this version cannot read as a whole. No visitor may come in then: a rule that
   * is not understood must not be a rule less.
   */
  unreadable: string[];
  /** False for an issuer of another version: no other one is asked for certificates then. */
  isIssuerKnown: boolean;
}

/** The table is computed again with every change of a replica: a manifest that is the same is not read again. */
const known = new WeakMap<Spec, ReadIngress>();

export function readIngress({ scope, name, spec }: IngressManifest): ReadIngress {
  const before = known.get(spec);
  if (before !== undefined) return before;
  const read = readSpec(spec, `${scope}/${name}`);
  known.set(spec, read);
  return read;
}

/** Whether connections are encrypted. */
export function hasTls({ tls }: Pick<WrittenSpec, "tls">): boolean {
  return tls !== undefined && tls.enabled !== false;
}

/** Milliseconds of a duration, or of its default. */
export function durationMs(text: string | undefined, fallback: string): number {
  return parseDuration(text ?? fallback) ?? parseDuration(fallback) ?? 0;
}

function readSpec(stored: Spec, id: string): ReadIngress {
  const spec = readLenient(IngressSpec, stored) ?? {};
  const hosts = hostsOf(spec).filter((host) => host === anyHost || hostOk(host));
  return {
    spec,
    hosts,
    paths: pathsOf(spec),
    options: optionsOf(spec, hosts, id),
    unreadable: unreadable(stored, spec),
    isIssuerKnown: Object(stored.tls).provider === spec.tls?.provider,
  };
}

function pathsOf({ locations = [] }: WrittenSpec): SitePath[] {
  const paths = new Map(locations.map(({ path, strip = false }) => [plainLocation(path), strip]));
  if (paths.size === 0) return [{ prefix: "/", strip: false }];
  return [...paths].map(([prefix, strip]) => ({ prefix, strip }));
}

function optionsOf(spec: WrittenSpec, hosts: readonly string[], id: string): SiteOptions {
  const { limits = {}, hold = {}, rate_limit: rate } = spec;
  return {
    balance: policies.find((known) => known === spec.lb?.policy) ?? routingDefaults.policy,
    stickyCookie: spec.sticky?.cookie,
    protocol: spec.protocol ?? routingDefaults.protocol,
    ...(spec.service?.startsWith("@") === true ? { isOwn: true } : {}),
    sendProxyProtocol: spec.proxy_protocol === true,
    tls: hasTls(spec) ? tlsOf(spec) : undefined,
    redirects: redirectsOf(spec, hosts),
    requestHeaders: headersOf(spec.headers?.request),
    responseHeaders: headersOf(spec.headers?.response),
    compress: spec.compress === true,
    basicAuth: Object.entries(spec.basic_auth ?? {}).map(([user, password]) => ({
      user,
      hash: isPasswordHash(password) ? password : hashPassword(password, `${id}\n${user}`),
    })),
    allow: (spec.allow ?? []).filter(isNetwork),
    deny: (spec.deny ?? []).filter(isNetwork),
    rateLimit:
      rate === undefined
        ? undefined
        : { requests: rate.requests, periodMs: durationMs(rate.per, routingDefaults.ratePer) },
    isInMaintenance: spec.maintenance === true,
    limits: {
      bodyBytes: limits.body === undefined ? undefined : parseMemory(limits.body),
      ...(limits.head === undefined ? {} : { headBytes: parseMemory(limits.head) }),
      responseMs: durationMs(limits.timeout, routingDefaults.timeout),
      ...(limits.client_timeout === undefined
        ? {}
        : { clientMs: durationMs(limits.client_timeout, routingDefaults.clientTimeout) }),
      tunnelMs: durationMs(limits.tunnel, routingDefaults.tunnel),
      connectionsPerReplica: limits.connections,
    },
    hold: {
      forMs: durationMs(hold.for, routingDefaults.holdFor),
      requestsMax: hold.requests ?? routingDefaults.holdRequests,
    },
    accessLog: spec.access_log ?? routingDefaults.accessLog,
    errorPages: { ...spec.error_pages },
  };
}

function tlsOf({ https_redirect: redirect = true, hsts }: WrittenSpec): SiteTls {
  if (hsts === undefined) return { redirect, hsts };
  const { max_age: maxAgeSeconds = routingDefaults.hstsSeconds, include_subdomains, preload } = hsts;
  return {
    redirect,
    hsts: { maxAgeSeconds, includeSubdomains: include_subdomains === true, preload: preload === true },
  };
}

function redirectsOf({ redirects = [] }: WrittenSpec, hosts: readonly string[]): SiteOptions["redirects"] {
  return redirects.flatMap(({ from, to, status = routingDefaults.redirectStatus }) => {
    const source = from.toLowerCase();
    const target = to?.toLowerCase() ?? hosts[0];
    const isRedirect = status === 301 || status === 302 || status === 307 || status === 308;
    if (!isRedirect || target === undefined || !hostOk(source) || !hostOk(target)) return [];
    return [{ from: source, to: target, status }];
  });
}

function headersOf(changes: NonNullable<WrittenSpec["headers"]>["request"]): HeaderChanges {
  const { set = {}, remove = [] } = changes ?? {};
  return { set: Object.entries(set).map(([name, value]) => ({ name, value })), remove };
}

const accessFields = ["allow", "deny", "basic_auth", "rate_limit"] as const;

function unreadable(stored: Spec, spec: WrittenSpec): string[] {
  const isOdd: Record<string, boolean> = {
    allow: spec.allow?.every(isNetwork) === false,
    deny: spec.deny?.every(isNetwork) === false,
    basic_auth: Object.values(spec.basic_auth ?? {}).some((text) => text.startsWith("$") && !isPasswordHash(text)),
  };
  return accessFields.filter((field) => {
    const isWhole = canonicalJson(stored[field]) === canonicalJson(spec[field]);
    return stored[field] !== undefined && (!isWhole || isOdd[field] === true);
  });
}
