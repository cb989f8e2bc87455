import { routingDefaults } from "../../api/kinds/routing-defaults.ts";
import { hostsOf, plainLocation } from "../../../base/pure/hosts.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { type Fields, fieldsOf, integerOf, listOf, textOf } from "./lenient.ts";

/**
 * What the platform itself needs to know of an ingress: what it occupies and what it reports. The service that routes
 * reads all of it, see `ingress/core/ingress-spec.ts`.
 */
export interface DecodedIngress {
  kind: "ingress";
  /** Lower case, without repeats; perhaps no host names. */
  hosts: readonly string[];
  /** Path prefixes in one spelling, without repeats; `/` is the whole host. */
  paths: readonly string[];
  /** Lower case: hosts that only redirect. */
  redirected: readonly string[];
  /** Whether other scopes may add paths. */
  isShared: boolean;
  /** Undefined: the resource of its own name. */
  service: string | undefined;
  /** One replica of a statefulset; undefined: all of them. */
  ordinal: number | undefined;
  /** On the container's side; undefined: the first of the service. */
  port: number | undefined;
  /** The plugin that routes in place of this server. */
  plugin: string | undefined;
  policy: string;
  hasActiveChecks: boolean;
  tcp: DecodedTcp | undefined;
  /** Undefined: plain HTTP. */
  tls: DecodedTls | undefined;
}

/** The port of the server that clients connect to; with an empty address on all of its own. */
export interface DecodedTcp {
  readonly port: number | undefined;
  readonly address: string;
}

interface DecodedTls {
  readonly provider: string;
  /** The block as written, with the defaults that decide whether two are the same. */
  readonly settings: Fields;
}

export function decodeIngress(spec: Fields): DecodedIngress {
  const lb = fieldsOf(spec.lb);
  const paths = listOf(spec.locations).map(({ path }) => plainLocation(textOf(path) ?? "/"));
  return {
    kind: "ingress",
    hosts: hostsOf(spec),
    paths: paths.length === 0 ? ["/"] : [...new Set(paths)],
    redirected: listOf(spec.redirects).flatMap(({ from }) => textOf(from)?.toLowerCase() ?? []),
    isShared: spec.shared === true,
    service: textOf(spec.service),
    ordinal: integerOf(spec.ordinal),
    port: integerOf(spec.port),
    plugin: textOf(spec.plugin),
    policy: textOf(lb.policy) ?? routingDefaults.policy,
    hasActiveChecks: textOf(lb.interval) !== undefined,
    tcp: isFields(spec.tcp) ? { port: integerOf(spec.tcp.port), address: textOf(spec.tcp.address) ?? "" } : undefined,
    tls: tlsOf(spec.tls),
  };
}

function tlsOf(tls: unknown): DecodedTls | undefined {
  if (!isFields(tls) || tls.enabled === false) return undefined;
  const provider = textOf(tls.provider) ?? routingDefaults.provider;
  return { provider, settings: { ...tls, provider, on_demand: tls.on_demand === true, enabled: true } };
}
