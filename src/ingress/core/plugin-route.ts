import { beyondPlugin } from "../../orchestration/api/kinds/ingress-plugin.ts";
import { routingDefaults } from "../../orchestration/api/kinds/routing-defaults.ts";
import { ingressTargetKind } from "../../orchestration/api/ingress-target.ts";
import type { PodKind, Spec } from "../../orchestration/api/manifest.ts";
import { hostsOf } from "../../base/pure/hosts.ts";
import { canonicalJson, sha256Hex } from "../../base/pure/digest.ts";
import { hasTls, type IngressManifest, readIngress } from "./ingress-spec.ts";
import type { SiteProblem } from "./sites.ts";
import type { Upstream } from "./table.ts";
import { createUpstreams, type Targets } from "./upstreams.ts";

/** An ingress that a plugin routes in place of the proxy. */
export interface PluginRoute {
  /** `<scope>/<name>` of the ingress. */
  id: string;
  plugin: string;
  /** `<scope>-<name>`: what the plugin knows the ingress by. */
  app: string;
  /** Variables of the call `apply`. */
  env: Record<string, string>;
  /** Another digest takes another call. */
  digest: string;
  /** Never empty. */
  upstreams: Upstream[];
}

interface PluginRoutes {
  /** In the order of their ids. Without those of which no replica is ready. */
  routes: PluginRoute[];
  /** Ingress with a plugin → its plugin, also of those without a route now. */
  plugins: Map<string, string>;
  /** Like `plugins`, for those with a field that no plugin serves: a route that says less than its ingress is taken back. */
  unserved: Map<string, string>;
  /** At most one for each ingress. */
  problems: Pick<SiteProblem, "id" | "message">[];
}

export interface PluginRoutesInput extends Targets {
  ingresses: readonly IngressManifest[];
  /** Spec of a deployment or statefulset; undefined when there is none. */
  serviceSpec(kind: PodKind, scope: string, name: string): Spec | undefined;
  /** Prefix of the environment: `BERTH`. */
  prefix: string;
}

/** The plugin that routes an ingress; undefined: the proxy does. */
export function pluginOf(manifest: IngressManifest): string | undefined {
  return readIngress(manifest).spec.plugin;
}

/** What the plugins should route. The variables are those of the plugin protocol. */
export function pluginRoutes(input: PluginRoutesInput): PluginRoutes {
  const found: PluginRoutes = { routes: [], plugins: new Map(), unserved: new Map(), problems: [] };
  const upstreamsOf = createUpstreams(input);
  const ordered = input.ingresses.map((manifest) => ({ id: `${manifest.scope}/${manifest.name}`, manifest }));
  ordered.sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const { id, manifest } of ordered) {
    const read = readIngress(manifest);
    const { plugin } = read.spec;
    if (plugin === undefined) continue;
    const unserved = beyondPlugin(manifest.spec).map(({ path, message }) => `${path}: ${message}`);
    if (unserved.length > 0) {
      found.unserved.set(id, plugin);
      found.problems.push({ id, message: unserved.join("; ") });
      continue;
    }
    found.plugins.set(id, plugin);
    const target = upstreamsOf(manifest, read);
    if (target.problem !== undefined) found.problems.push({ id, message: target.problem.message });
    const upstreams = target.upstreams.filter(({ isLeaving }) => !isLeaving);
    if (upstreams.length === 0) continue;
    const app = `${manifest.scope}-${manifest.name}`;
    const env = { [`${input.prefix}_APP`]: app, ...variables(manifest, upstreams, input) };
    found.routes.push({ id, plugin, app, env, digest: sha256Hex(canonicalJson([plugin, env])), upstreams });
  }
  return found;
}

function variables(
  manifest: IngressManifest,
  upstreams: readonly Upstream[],
  input: PluginRoutesInput,
): Record<string, string> {
  const { spec } = readIngress(manifest);
  const { tls, lb, locations = [] } = spec;
  const service = spec.service ?? manifest.name;
  const readiness = readinessOf(manifest, input);
  const isSecure = hasTls(spec);
  const isOnDemand = isSecure && tls?.on_demand === true;
  const interval = lb?.interval ?? readiness.period;
  const written: Record<string, string | undefined> = {
    HOST: hostsOf(spec)[0],
    SERVICE: service,
    PORT: String(upstreams[0]?.port ?? ""),
    UPSTREAMS: JSON.stringify(upstreams.map(addressOf)),
    TLS: isSecure ? "true" : undefined,
    TLS_PROVIDER: isSecure ? (tls?.provider ?? routingDefaults.provider) : undefined,
    TLS_EMAIL: isSecure ? tls?.email : undefined,
    TLS_ON_DEMAND: isOnDemand ? "true" : undefined,
    TLS_ASK: isOnDemand ? tls.ask : undefined,
    LOCATIONS: locations.length === 0 ? undefined : JSON.stringify(locations),
    LB_POLICY: lb?.policy,
    LB_INTERVAL: interval,
    HC_PATH: readiness.path,
  };
  return Object.fromEntries(
    Object.entries(written).flatMap(([name, value]) =>
      value === undefined ? [] : [[`${input.prefix}_INGRESS_${name}`, value]],
    ),
  );
}

function addressOf({ address, port }: Upstream): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

/** How the plugin may check replicas: the readiness probe over HTTP, else `health_check` of the service. */
function readinessOf(
  manifest: IngressManifest,
  input: PluginRoutesInput,
): { path: string | undefined; period: string | undefined } {
  const { spec } = readIngress(manifest);
  const name = spec.service ?? manifest.name;
  const kind = ingressTargetKind(input.serviceKinds(manifest.scope, name), spec.ordinal);
  const service = kind === undefined ? undefined : input.serviceSpec(kind, manifest.scope, name);
  const probe = Object(Object(service?.probes).readiness);
  const path = Object(probe.http_get).path ?? service?.health_check;
  const isPath = typeof path === "string" && /^\/[!-~]*$/.test(path);
  const isHttp = typeof probe.http_get === "object";
  return {
    path: isPath ? path : undefined,
    period: isHttp && typeof probe.period === "string" ? probe.period : undefined,
  };
}
