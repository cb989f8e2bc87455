import type { IngressSite, IngressStatus } from "../api/ingress.ts";
import type { IngressTraffic } from "../api/traffic.ts";
import { covers } from "../core/certificates/names.ts";
import type { ProxyFigures } from "../core/figures/proxy-figures.ts";
import { hasTls, type IngressManifest, readIngress } from "../core/ingress-spec.ts";
import { pluginOf } from "../core/plugin-route.ts";
import { type AnySite, isHttp } from "../core/servers.ts";
import type { Listen, Table, Upstream } from "../core/table.ts";
import { failingRequests, missingCertificates, type RecentRequests } from "../core/site-troubles.ts";
import type { AccessLog } from "../proxy/access-log.ts";
import type { IngressProxy } from "../proxy/proxy.ts";
import type { CertificateViews } from "./certificate-views.ts";
import type { Ingress, IngressState } from "./create.ts";
import type { Loops } from "./loops.ts";
import type { ProxySource, UsableProxy } from "./usable-proxy.ts";
import type { PluginRouteState, PluginRouting } from "./plugin-routes.ts";

/** How one ingress is served; `stored`: it never is while the server runs. `why`: what it lacks. */
interface Served {
  phase: "ready" | "asleep" | "progressing" | "failing" | "stored";
  why?: string;
}

/** The ingress as the API shows it. */
export interface IngressViews {
  served(manifest: IngressManifest): Served;
  status(): Promise<IngressStatus>;
  /** Fails `unavailable` when there is no HAProxy, or it does not take its files. */
  reload(): Promise<IngressStatus>;
  stop(): Promise<IngressStatus>;
  traffic(): IngressTraffic;
  /** Entries of the access log: the newest, oldest first. */
  access: AccessLog["read"];
}

export interface IngressViewOptions {
  ingress: Pick<Ingress, "state" | "reload" | "stop">;
  plugins: Pick<PluginRouting, "of" | "reload" | "caughtUp">;
  loops: Pick<Loops, "problem">;
  ingresses(): IngressManifest[];
  proxy: ProxyView;
  listen: Listen;
  /** Requests of the last minute. */
  traffic(): IngressTraffic;
  /** Requests of one ingress in the last seconds. */
  lately(id: string): RecentRequests;
  certificates: Pick<CertificateViews, "list">;
  access: AccessLog["read"];
}

/** What is shown of the proxy, as far as HAProxy can be used. */
interface ProxyView extends Pick<ProxySource, "state"> {
  usable(): (Omit<UsableProxy, "proxy"> & { proxy: Pick<IngressProxy, "pid" | "figures" | "running"> }) | undefined;
}

export function createIngressViews(options: IngressViewOptions): IngressViews {
  const { ingress } = options;

  async function status(): Promise<IngressStatus> {
    const proxy = options.proxy.usable()?.proxy;
    const pid = await proxy?.pid();
    const figures = pid === undefined ? undefined : await proxy?.figures().catch(() => undefined);
    const state = ingress.state();
    return { proxy: proxyView(options, { state, pid, figures }), sites: sitesView(options, state, figures) };
  }

  return {
    served: (manifest) => servedNow(options, manifest),
    status,
    async reload() {
      const hasPlugins = options.plugins.reload();
      if (hasPlugins) await options.plugins.caughtUp(new AbortController().signal);
      const isPluginsOnly = hasPlugins && options.proxy.usable() === undefined;
      if (!isPluginsOnly) await ingress.reload();
      return status();
    },
    async stop() {
      await ingress.stop();
      return status();
    },
    traffic: options.traffic,
    access: options.access,
  };
}

interface Now {
  state: IngressState;
  pid: number | undefined;
  figures: ProxyFigures | undefined;
}

function proxyView({ listen, proxy }: IngressViewOptions, now: Now): IngressStatus["proxy"] {
  const { state, pid, figures } = now;
  const { problem } = state;
  const usable = proxy.usable();
  const is = proxy.state();
  return {
    state: is === "usable" ? stateOf(now) : is,
    ...(usable === undefined ? {} : { version: usable.version }),
    ...(usable?.image === undefined ? {} : { image: usable.image }),
    pid,
    ...(figures === undefined ? {} : { uptime_seconds: figures.uptimeSeconds, connections: figures.connections }),
    problem,
    listen: { http: listen.http, https: listen.https },
  };
}

function stateOf({ state, pid, figures }: Now): IngressStatus["proxy"]["state"] {
  if (state.isStopped) return "stopped";
  if (state.problem !== undefined) return "failing";
  return pid === undefined || figures === undefined || state.table === undefined ? "starting" : "running";
}

/** One row for each stored ingress, whether it is served or not. */
function sitesView(options: IngressViewOptions, state: IngressState, figures: ProxyFigures | undefined): IngressSite[] {
  const served = sitesOf(state);
  const assignment = options.proxy.usable()?.proxy.running()?.assignment;
  const rows = options.ingresses().map((manifest) => {
    const id = idOf(manifest);
    const backend = assignment?.backends[id] ?? "";
    const counted = figures?.backends.get(backend);
    const servers = assignment?.servers[backend] ?? {};
    const active = ({ id: upstream }: Upstream) => counted?.servers.get(servers[upstream]?.name ?? "") ?? 0;
    const routed = options.plugins.of(id);
    return {
      ...manifestView(id, manifest),
      ...(isAsleep(served.get(id)) ? { asleep: true } : {}),
      ...(routed === undefined ? routeView(served.get(id), active) : pluginView(routed)),
      problems: problemsOf(options, state, manifest),
      requests: counted?.requests ?? 0,
      failed: counted?.failed ?? 0,
      bytes_in: counted?.bytesIn ?? 0,
      bytes_out: counted?.bytesOut ?? 0,
      queued: counted?.queued ?? 0,
    };
  });
  return rows.toSorted((a, b) => (a.ingress < b.ingress ? -1 : 1));
}

/** The sites of each table, by id. */
const sitesOfTable = new WeakMap<Table, ReadonlyMap<string, AnySite>>();

function sitesOf({ table }: IngressState): ReadonlyMap<string, AnySite> {
  if (table === undefined) return new Map();
  const known = sitesOfTable.get(table) ?? new Map([...table.sites, ...table.tcp].map((site) => [site.id, site]));
  sitesOfTable.set(table, known);
  return known;
}

function problemsOf(options: IngressViewOptions, state: IngressState, manifest: IngressManifest): string[] {
  const { plugins, loops } = options;
  const id = idOf(manifest);
  return [
    ...(plugins.of(id)?.problems ?? []),
    ...state.problems.filter((one) => one.id === id).map(({ message }) => message),
    ...state.refused.filter(({ site }) => site === id).map(({ problem }) => problem),
    ...certificateProblems(state, manifest),
    ...[loops.problem(id) ?? []].flat(),
    ...visitorProblems(options, manifest),
  ];
}

/** What visitors meet although the ingress is served. A plugin counts no requests and has certificates of its own. */
function visitorProblems({ lately, certificates }: IngressViewOptions, manifest: IngressManifest): string[] {
  const { spec, hosts, options } = readIngress(manifest);
  if (spec.plugin !== undefined) return [];
  const failing = options.isInMaintenance ? undefined : failingRequests(lately(idOf(manifest)));
  const missing = hasTls(spec) ? missingCertificates(hosts, certificates.list().certificates) : [];
  return [...(failing === undefined ? [] : [failing]), ...missing];
}

const idOf = ({ scope, name }: IngressManifest) => `${scope}/${name}`;

function servedNow(options: IngressViewOptions, manifest: IngressManifest): Served {
  const id = idOf(manifest);
  const state = options.ingress.state();
  const isOfPlugin = pluginOf(manifest) !== undefined;
  const fault = isOfPlugin ? undefined : proxyProblem(state);
  if (fault !== undefined)
    return { phase: options.proxy.state() === "off" ? "stored" : "failing", why: `not served: ${fault}` };
  const site = isOfPlugin ? undefined : sitesOf(state).get(id);
  const route = isOfPlugin ? options.plugins.of(id) : site;
  const [problem] = problemsOf(options, state, manifest);
  if (problem !== undefined) return { phase: "failing", why: route === undefined ? `not served: ${problem}` : problem };
  if (route === undefined) return { phase: "progressing", why: "not served yet" };
  if (isAsleep(site)) return { phase: "asleep" };
  if (route.upstreams.some(({ isLeaving }) => !isLeaving)) return { phase: "ready" };
  return { phase: "progressing", why: `no replica of ${manifestView(id, manifest).target} is ready` };
}

/** Why the proxy does not serve; undefined when it does. */
export function proxyProblem({ isStopped, problem }: Pick<IngressState, "isStopped" | "problem">): string | undefined {
  return isStopped ? "the proxy was stopped; start it with: berth ingress reload" : problem;
}

/** Certificates of its hosts that the proxy did not take. */
function certificateProblems({ table, refused }: IngressState, manifest: IngressManifest): string[] {
  if (refused.length === 0) return [];
  const { hosts } = readIngress(manifest);
  const own = (table?.certificates ?? []).filter(({ names }) =>
    hosts.some((host) => names.some((name) => covers(name, host))),
  );
  return own.flatMap(({ id, names }) =>
    refused
      .filter(({ site }) => site === `certificate ${id}`)
      .map(({ problem }) => `certificate of ${names.join(", ")}: ${problem}`),
  );
}

function manifestView(id: string, manifest: IngressManifest) {
  const { spec, hosts, paths, options } = readIngress(manifest);
  const service = spec.service ?? manifest.name;
  return {
    ingress: id,
    hosts,
    paths: paths.map(({ prefix }) => prefix),
    target: service.startsWith("@") ? service : `${manifest.scope}/${service}`,
    tls: hasTls(spec),
    maintenance: options.isInMaintenance,
  };
}

function isAsleep(site: AnySite | undefined): boolean {
  if (site === undefined) return false;
  return (isHttp(site) ? site.options.hold : site.hold)?.isAsleep === true;
}

/** What the proxy has of it; without a site, nothing is served. */
function routeView(site: AnySite | undefined, active: (upstream: Upstream) => number) {
  const upstreams = (site?.upstreams ?? []).map((upstream) => ({
    ...upstreamView(upstream),
    active: active(upstream),
  }));
  return { upstreams, ...(site === undefined || isHttp(site) ? {} : { tcp: site.listen }) };
}

/** What the plugin was given. It counts nothing for us. */
function pluginView({ plugin, upstreams }: PluginRouteState) {
  return { plugin, upstreams: upstreams.map((upstream) => ({ ...upstreamView(upstream), active: 0 })) };
}

function upstreamView({ id, replica, address, port, isLeaving, weight }: Upstream) {
  return {
    replica,
    container: id,
    address: `${address.includes(":") ? `[${address}]` : address}:${port}`,
    state: isLeaving ? ("leaving" as const) : ("ready" as const),
    weight,
  };
}
