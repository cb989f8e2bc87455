import type { Gate } from "../base/deliver/gate.ts";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { ServeOptions } from "../config/config.ts";
import { certificateLimits } from "../config/certificate-limits.ts";
import { proxyLimits } from "../config/proxy-limits.ts";
import { parseAddress } from "../config/values.ts";
import { findProxy, type ProxyParts, proxySource } from "./proxy.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Opened } from "../base/words/opened.ts";
import { Failure } from "../base/wire/failure.ts";
import type { Certificates } from "../ingress/certs/create.ts";
import type { IngressManifest } from "../ingress/core/ingress-spec.ts";
import { pluginOf, type PluginRoutesInput } from "../ingress/core/plugin-route.ts";
import type { Listen } from "../ingress/core/table.ts";
import { createAccessLog } from "../ingress/proxy/access-log.ts";
import { type Door, openDoor } from "../ingress/proxy/door.ts";
import { heldRoutesIn } from "../ingress/proxy/plugin-routes-file.ts";
import { createIngress, type Ingress, type IngressSource } from "../ingress/service/create.ts";
import { createPluginRouting, type PluginRouting, type RoutingPlugins } from "../ingress/service/plugin-routes.ts";
import { createCertificateViews } from "../ingress/service/certificate-views.ts";
import { createAccess } from "../ingress/service/access.ts";
import { createTraffic, type Traffic } from "../ingress/service/traffic.ts";
import { openReceiver, type Receiver } from "../ingress/proxy/receiver.ts";
import { ingressUse } from "../ingress/service/use.ts";
import { createLoops } from "../ingress/service/loops.ts";
import type { ProxySource } from "../ingress/service/usable-proxy.ts";
import { createWakes } from "../ingress/service/wakes.ts";
import { createIngressViews, type IngressViews, proxyProblem } from "../ingress/service/ingress-views.ts";
import { type PlaneName, planeNames } from "../orchestration/api/kinds/ingress.ts";
import type { ManifestKey, PodKind } from "../orchestration/api/manifest.ts";
import type { IngressGate } from "../orchestration/controller/state/ingress-gate.ts";
import type { RunningController } from "../orchestration/controller/running.ts";
import type { Outside } from "../orchestration/controller/state/context.ts";
import type { PodEndpoints } from "../orchestration/api/pod-endpoint.ts";
import type { Store } from "../orchestration/store/store.ts";

export interface IngressRoom {
  ingress: Ingress;
  plugins: PluginRouting;
  views: IngressViews;
  /** Why requests are not served; undefined when they are. */
  problem(): string | undefined;
  /** What visitors of a resource saw; undefined when no ingress leads there, or nothing is served. */
  trafficOf: Traffic["of"];
  /** What visitors got since this was last asked, for the metrics. */
  takenFigures: Traffic["taken"];
  /** See `ingressUse`. */
  use: NonNullable<Outside["ingressUse"]>;
  run(signal: AbortSignal): Promise<void>;
}

interface IngressRoomOptions extends ProxyParts {
  /** What is opened here is closed by it. */
  step: Opened["step"];
  /** While it is closed, no plugin is asked to route. */
  gate: Gate;
  store: Store;
  endpoints: PodEndpoints;
  certificates: Certificates;
  /** Apps that requests wake. */
  sleep: RunningController["sleep"];
  routers: RoutingPlugins;
  /** What the plugin of an ingress said is another. */
  onPluginRoute: (ingress: ManifestKey) => void;
  /** Where the identity service listens; undefined while it does not. */
  planeAddresses: () => Partial<Record<PlaneName, string | undefined>>;
}

/** The ingress with its proxy, as far as this machine has one. */
export async function createIngressRoom(parts: IngressRoomOptions): Promise<IngressRoom> {
  const { options, log } = parts;
  const listen = listenOf(options);
  const way = await findProxy(parts);
  const source = sourceOf(parts);
  const served = sourceOf(parts, (one) => pluginOf(one) === undefined);
  const folder = join(parts.layout.logs, "ingress");
  const accessLog = createAccessLog({ folder, clock: systemClock, log, limits: proxyLimits });
  const { sampledPerSecond } = proxyLimits;
  // Declared first: the proxy of the last server sends lines as soon as the receiver is there.
  let proxies: ProxySource | undefined;
  const proxyNow = () => proxies?.usable()?.proxy;
  const running = () => proxyNow()?.running();
  const { ingresses } = served;
  const traffic = createTraffic({
    ...{ hasProxy: () => proxyNow() !== undefined, running, ingresses, serviceKinds: source.serviceKinds },
    onRequest: createAccess({ write: accessLog.write, now: systemClock.now, sampledPerSecond }),
    ...{ now: systemClock.now, limits: proxyLimits },
  });
  const wakes = createWakes({
    ...{ running, ingresses: source.ingresses, serviceKinds: source.serviceKinds },
    requested(key, host) {
      parts.sleep.requested(key, host).catch((error: unknown) => log.error("app not woken", { error }));
    },
  });
  const loops = createLoops({ running, now: systemClock.now, limits: proxyLimits });
  const onLine = (line: string) => {
    if (!wakes(line) && !loops.take(line)) traffic.take(line);
  };
  const ends = way.by === "nothing" ? undefined : await endsOf(onLine, () => ingress, parts);
  proxies = await proxySource(way, ends, { ...parts, isWanted: () => served.ingresses().length > 0 });
  const ingress: Ingress = createIngress({
    source: served,
    certificates: parts.certificates,
    ...{ proxy: proxies, listen, ownPorts: ownPorts(options) },
    ...{ clock: systemClock, log, limits: proxyLimits },
  });
  const plugins = pluginRoutingOf(source, parts);
  const views = createIngressViews({
    ...{ ingress, plugins, loops, ingresses: source.ingresses, proxy: proxies, listen },
    lately: traffic.lately,
    certificates: createCertificateViews(parts.certificates),
    traffic: () => ({ ...traffic.lastMinute(), dropped: ends?.receiver.dropped() ?? 0 }),
    access: accessLog.read,
  });
  return {
    ...{ ingress, plugins, views, trafficOf: traffic.of, takenFigures: traffic.taken },
    problem: () => proxyProblem(ingress.state()),
    async use() {
      const proxy = proxyNow();
      if (proxy === undefined) throw new Failure("unavailable", "there is no proxy");
      return ingressUse({ proxy, ingresses: served.ingresses, serviceKinds: source.serviceKinds });
    },
    async run(signal) {
      await Promise.all([ingress.run(signal), parts.gate.whenOpen(plugins.run)(signal), accessLog.run(signal)]);
    },
  };
}

function pluginRoutingOf(source: Source, parts: IngressRoomOptions): PluginRouting {
  return createPluginRouting({
    source,
    prefix: parts.names.envPrefix,
    plugins: parts.routers,
    held: heldRoutesIn(join(parts.layout.ingress, "plugin-routes.json")),
    onChange(id) {
      const [scope = "", name = ""] = id.split("/");
      parts.onPluginRoute({ kind: "ingress", scope, name });
    },
    clock: systemClock,
    log: parts.log,
    limits: proxyLimits,
  });
}

async function endsOf(onLine: (line: string) => void, ingress: () => Ingress, parts: IngressRoomOptions) {
  return { receiver: await receiverOf(onLine, parts), door: await doorOf(ingress, parts) };
}

function receiverOf(onLine: (line: string) => void, { step, layout, log }: IngressRoomOptions): Promise<Receiver> {
  const { linesPerSecondMax, portFileRetryMs: retryMs } = proxyLimits;
  const portFile = join(layout.ingress, "receiver.port");
  return step(
    "listen for lines of the ingress proxy",
    () => openReceiver({ portFile, linesPerSecondMax, onLine, clock: systemClock, log, retryMs }),
    (it) => it.close(),
  );
}

/** The handshake goes on once the proxy serves the certificate. */
function doorOf(ingress: () => Ingress, { step, certificates, layout, log }: IngressRoomOptions): Promise<Door> {
  const { waitMs, waitingMax } = certificateLimits.onDemand;
  return step(
    "listen for questions of the ingress proxy",
    () =>
      openDoor({
        portFile: join(layout.ingress, "door.port"),
        answer: async (name, client, signal) =>
          (await certificates.demand(name, client, signal)) && ingress().caughtUp(signal),
        waitMs,
        connectionsMax: waitingMax,
        clock: systemClock,
        log,
        retryMs: proxyLimits.portFileRetryMs,
      }),
    (it) => it.close(),
  );
}

/** For the controller, which is there before the ingress is. */
export function gateOf(current: () => Pick<IngressRoom, "ingress" | "plugins"> | undefined): IngressGate {
  const serves = ({ ingress, plugins }: Pick<IngressRoom, "ingress" | "plugins">, id: string) =>
    ingress.serves(id) || plugins.serves(id);
  return {
    serves: (id) => {
      const room = current();
      return room !== undefined && serves(room, id);
    },
    async caughtUp(signal) {
      const room = current();
      const [isTaken = false] = await Promise.all([room?.ingress.caughtUp(signal), room?.plugins.caughtUp(signal)]);
      return isTaken;
    },
    leadsTo: (id) => current()?.ingress.serves(id) ?? false,
    lacks: (id) => current()?.ingress.lacks(id) ?? false,
    problem: () => current()?.ingress.state().problem,
    isBusy: async (id) => (await current()?.ingress.isBusy(id)) ?? false,
  };
}

type Source = IngressSource & Pick<PluginRoutesInput, "serviceSpec">;

function sourceOf(
  { store, endpoints, sleep, planeAddresses }: IngressRoomOptions,
  isOfSource = (_: IngressManifest): boolean => true,
): Source {
  return {
    ingresses: () => store.manifests.list({ kind: "ingress" }).filter(isOfSource),
    serviceSpec: (kind, scope, name) => store.manifests.get({ kind, scope, name })?.spec,
    endpoints: () => endpoints.list(),
    serviceKinds: (scope, name) => podKinds.filter((kind) => store.manifests.get({ kind, scope, name }) !== undefined),
    sleepOf: (scope, name) => sleep.stateOf({ kind: "deployment", scope, name }),
    get planes() {
      const planes: Partial<Record<PlaneName, { address: string; port: number }>> = {};
      const at = planeAddresses();
      for (const name of planeNames) {
        const address = at[name];
        if (address !== undefined) planes[name] = reachable(address);
      }
      return planes;
    },
    subscribe(listener) {
      const leave = [endpoints.subscribe(listener), store.subscribe(listener)];
      return () => {
        for (const one of leave) one();
      };
    },
  };
}

const podKinds: readonly PodKind[] = ["deployment", "statefulset"];

/** A listener on every interface is reached on loopback. */
function reachable(address: string): { address: string; port: number } {
  const { hostname, port } = parseAddress(address);
  return { address: hostname === "0.0.0.0" || hostname === "::" ? "127.0.0.1" : hostname, port };
}

function listenOf(options: ServeOptions): Listen {
  return {
    http: bindings(options.ingressHttpAddr),
    https: bindings(options.ingressHttpsAddr),
    trustedProxies: [...options.ingressTrustedProxies],
    proxyProtocolFrom: [...options.ingressProxyProtocol],
  };
}

/** `:80` is every address of the machine, IPv6 included where the machine has it. */
function bindings(address: string): string[] {
  if (address === "" || !address.startsWith(":")) return address === "" ? [] : [address];
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return [`0.0.0.0${address}`, ...(all.some(({ family }) => family === "IPv6") ? [`[::]${address}`] : [])];
}

function ownPorts(options: ServeOptions): Map<number, string> {
  const taken: [string, string][] = [
    [options.ingressHttpAddr, "the ingress"],
    [options.ingressHttpsAddr, "the ingress"],
    [options.addr, "the orchestration plane"],
    [options.observabilityAddr, "the observability plane"],
    [options.identityAddr, "the identity service"],
  ];
  return new Map(taken.flatMap(([address, what]) => (address === "" ? [] : [[parseAddress(address).port, what]])));
}
