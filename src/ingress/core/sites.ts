import { routingDefaults } from "../../orchestration/api/kinds/routing-defaults.ts";
import { durationMs, hasTls, type IngressManifest, type ReadIngress, readIngress } from "./ingress-spec.ts";
import type { Site, TcpSite } from "./table.ts";
import { createUpstreams, type FoundUpstreams, type Targets, type UpstreamReason } from "./upstreams.ts";

export interface SitesInput extends Targets {
  ingresses: readonly IngressManifest[];
  /** Whether a deployment waits for a request, or is being started for one; undefined: neither. */
  restOf?(scope: string, name: string): Rest | undefined;
  /** How long requests wait for one that is being started. */
  wakeHoldMs?: number;
  /** TCP ports of the machine that the server itself has, and what for: 443 → `the ingress`. */
  ownPorts: ReadonlyMap<number, string>;
}

interface Sites {
  /** In the order of their ids. */
  sites: Site[];
  /** In the order of their ids. */
  tcp: TcpSite[];
  problems: SiteProblem[];
}

/** Why an ingress does not do all that its manifest asks for. */
export interface SiteProblem {
  /** `<scope>/<name>` of the ingress. */
  id: string;
  reason: UpstreamReason | "HostMissing" | "HostTaken" | "PortTaken" | "AccessUnreadable";
  /** For the operator; begins with the field where one is at fault. */
  message: string;
}

/**
 * The sites of all ingresses. An ingress whose service is missing or not ready is a site without upstreams: its visitors
 * wait, and then see the page for 503. What validation refuses cannot be here, unless another version has stored it.
 */
export function sitesOf(input: SitesInput): Sites {
  const found: Sites = { sites: [], tcp: [], problems: [] };
  const upstreamsOf = createUpstreams(input);
  const ownPorts = [...input.ownPorts].map(
    ([port, holder]) => [port, { holder, listen: "", names: undefined }] as const,
  );
  const taken: Taken = { routes: new Map(), ports: new Map(ownPorts) };
  const ordered = input.ingresses.map((manifest) => ({ id: `${manifest.scope}/${manifest.name}`, manifest }));
  ordered.sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const { id, manifest } of ordered) {
    const read = readIngress(manifest);
    const target = upstreamsOf(manifest, read);
    const rest = restOf(manifest, read, input);
    const report = (reason: SiteProblem["reason"], message: string) => found.problems.push({ id, reason, message });
    const making = { read: heldFor(read, rest, input.wakeHoldMs), target, taken, report };
    if (read.spec.tcp === undefined) found.sites.push(...site(id, making));
    else found.tcp.push(...tcpSite(id, making).map((one) => withHold(one, making.read, rest)));
    const isExpected = rest !== undefined && target.problem?.reason === "NoReplica";
    if (target.problem !== undefined && !isExpected) report(target.problem.reason, target.problem.message);
  }
  return found;
}

export type Rest = "asleep" | "waking";

function restOf({ scope, name }: IngressManifest, { spec }: ReadIngress, input: SitesInput): Rest | undefined {
  return spec.ordinal === undefined ? input.restOf?.(scope, spec.service ?? name) : undefined;
}

/**
 * A request that finds its app asleep waits as long as ever for the server to hear of it, and longer for the replica
 * that is then started. Where an ingress holds no requests, none waits.
 */
function heldFor(read: ReadIngress, rest: Rest | undefined, wakeHoldMs = 0): ReadIngress {
  if (rest === undefined) return read;
  const { hold } = read.options;
  const longer = hold.forMs === 0 ? 0 : Math.max(hold.forMs, wakeHoldMs);
  const changed = rest === "asleep" ? { ...hold, isAsleep: true } : { ...hold, forMs: longer };
  return { ...read, options: { ...read.options, hold: changed } };
}

/** Connections wait for an app that sleeps, and for no other: a client of TCP sees at once that there is no replica. */
function withHold(site: TcpSite, { options }: ReadIngress, rest: Rest | undefined): TcpSite {
  return rest === undefined ? site : { ...site, hold: options.hold };
}

interface Taken {
  /** Host and path → the ingress that has it. A host that is redirected has the path "". */
  routes: Map<string, string>;
  ports: Map<number, PortUse>;
}

interface PortUse {
  /** The first that took it. */
  holder: string;
  listen: string;
  /** Name of a certificate → its ingress; undefined where the port is of the holder alone. */
  names: Map<string, string> | undefined;
}

interface Making {
  read: ReadIngress;
  target: FoundUpstreams;
  taken: Taken;
  report: (reason: SiteProblem["reason"], message: string) => void;
}

function site(id: string, { read, target, taken, report }: Making): Site[] {
  const { paths, options, unreadable } = read;
  const redirects = options.redirects.filter(({ from }) => take(id, { host: from, prefixes: [""], taken, report }));
  const prefixes = paths.map(({ prefix }) => prefix);
  const hosts = read.hosts.filter((host) => take(id, { host, prefixes, taken, report }));
  if (read.hosts.length === 0) report("HostMissing", "host: names no host, so that no request gets here");
  if (hosts.length === 0) return [];
  if (unreadable.length > 0) report("AccessUnreadable", unreadableText(unreadable));
  const isInMaintenance = options.isInMaintenance || unreadable.length > 0;
  return [
    kept(read, { id, hosts, paths, upstreams: target.upstreams, options: { ...options, redirects, isInMaintenance } }),
  ];
}

const last = new WeakMap<ReadIngress, Site>();

/** The site that was made of the ingress before, unless what is not of its spec alone is another now. */
function kept(read: ReadIngress, now: Site): Site {
  const before = last.get(read);
  const isSame =
    before !== undefined &&
    before.id === now.id &&
    before.options.isInMaintenance === now.options.isInMaintenance &&
    Bun.deepEquals(
      [before.hosts, before.upstreams, before.options.redirects],
      [now.hosts, now.upstreams, now.options.redirects],
    );
  if (isSame) return before;
  last.set(read, now);
  return now;
}

function tcpSite(id: string, { read, target, taken, report }: Making): TcpSite[] {
  const { spec, options, unreadable, hosts } = read;
  if (spec.tcp === undefined) return [];
  const { port, address = "" } = spec.tcp;
  const listen = `${address.includes(":") ? `[${address}]` : address}:${port}`;
  const tlsName = hasTls(spec) ? hosts[0] : undefined;
  const holder = takePort(id, { port, listen, name: tlsName }, taken);
  if (holder !== undefined) {
    report("PortTaken", `tcp.port: ${port} belongs to ${holder}; use another port`);
    return [];
  }
  if (unreadable.length > 0) {
    report("AccessUnreadable", unreadableText(unreadable));
    return [];
  }
  if (hasTls(spec) && hosts.length === 0) {
    report("HostMissing", "host: tls needs the name that the certificate is for");
    return [];
  }
  return [
    {
      id,
      listen,
      upstreams: target.upstreams,
      balance: options.balance,
      sendProxyProtocol: options.sendProxyProtocol,
      tlsName,
      idleMs: durationMs(spec.limits?.tunnel, routingDefaults.tunnel),
      allow: options.allow,
      deny: options.deny,
      connectionsPerReplica: options.limits.connectionsPerReplica,
    },
  ];
}

/** Takes a port, or with TLS a name on it; who has it already is the answer. */
function takePort(
  id: string,
  { port, listen, name }: { port: number; listen: string; name: string | undefined },
  { ports }: Taken,
): string | undefined {
  const use = ports.get(port);
  if (use === undefined) {
    ports.set(port, { holder: id, listen, names: name === undefined ? undefined : new Map([[name, id]]) });
    return undefined;
  }
  if (name === undefined || use.names === undefined || use.listen !== listen) return use.holder;
  const holder = use.names.get(name);
  if (holder === undefined) use.names.set(name, id);
  return holder;
}

/** Takes all paths of a host, or none when another ingress has one of them or the host as a whole. */
function take(id: string, wanted: { host: string; prefixes: string[] } & Pick<Making, "taken" | "report">): boolean {
  const { host, prefixes, taken, report } = wanted;
  const keys = prefixes.map((prefix) => host + prefix);
  const isWhole = prefixes.includes("");
  const whole = taken.routes.get(host);
  const holder =
    whole ??
    keys.map((key) => taken.routes.get(key)).find((one) => one !== undefined) ??
    (isWhole ? taken.routes.get(`${host}*`) : undefined);
  if (holder !== undefined) {
    report("HostTaken", `host: ${host} is already served by the ingress ${holder}; use another host or path`);
    return false;
  }
  for (const key of keys) taken.routes.set(key, id);
  if (!isWhole) taken.routes.set(`${host}*`, id);
  return true;
}

function unreadableText(fields: readonly string[]): string {
  return `${fields.join(", ")}: written for another version of the server, so all requests are refused; apply the manifest again`;
}
