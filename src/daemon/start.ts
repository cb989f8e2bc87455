import { randomBytes } from "node:crypto";
import { direct } from "../base/wire/outgoing.ts";
import { proxyArguments } from "../base/pure/proxy-choice.ts";
import { limits, proxyVariables, type ServeOptions } from "../config/config.ts";
import { contractClientLimits } from "../config/contract-client-limits.ts";
import { aboutServer } from "./about.ts";
import { openPlane } from "./access.ts";
import { createIngressRoom, gateOf, type IngressRoom } from "./ingress.ts";
import { createNetworkRoom } from "./network.ts";
import { openRoot } from "./root.ts";
import { routingPlugins } from "./plugin-routes.ts";
import { createCertificateRoom } from "./certificates.ts";
import { withContractClient } from "../compat/door.ts";
import { createController } from "../orchestration/controller/create.ts";
import { drainedEngine } from "./logs.ts";
import { telemetryDoor, telemetryTarget } from "./telemetry.ts";
import { createInside } from "./inside.ts";
import { listenForPlane, type PlaneListener } from "./plane-listener.ts";
import { podInside } from "./pods.ts";
import { createObservabilityRoom } from "./observability.ts";
import { callbackDoor, createPluginRoom, runDoorOf } from "./plugins.ts";
import { createDownload } from "../base/deliver/download.ts";
import { createPinned } from "../base/deliver/pinned.ts";
import { resolveHost } from "../base/deliver/resolve-host.ts";
import { createAssets } from "../base/disk/assets.ts";
import { createOrchestrationApp } from "../orchestration/http/app.ts";
import { mountIdentity } from "../identity/http/manage/mount.ts";
import { createSenders } from "./senders.ts";
import { sourceReader } from "./sources.ts";
import { mountSources } from "../orchestration/http/sources.ts";
import { mountObservability } from "../observability/http/manage/mount.ts";
import { mountIngress } from "../ingress/http/mount.ts";
import { createCertificateViews } from "../ingress/service/certificate-views.ts";
import type { Door } from "../orchestration/http/callbacks/door.ts";
import type { RunDoor } from "../orchestration/http/callbacks/run-door.ts";
import type { Observability } from "../observability/service/observability.ts";
import { listenForIdentity, openIdentity } from "./identity.ts";
import { openAt } from "../base/http/front/address.ts";
import { startFront } from "../base/http/front/front.ts";
import { availableMemoryBytes } from "../base/machine/memory.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Log } from "../base/words/log.ts";
import { createOpened, type Opened, type OpenedOptions } from "../base/words/opened.ts";
import { createOnce } from "../orchestration/controller/write/once.ts";
import { createDockerRuntime } from "../orchestration/engine/docker/docker.ts";
import { createLocalEngine } from "../orchestration/engine/local.ts";
import { createHelper } from "../orchestration/engine/local-helper.ts";
import { versionText } from "../version.ts";

export interface Daemon {
  /** Bound addresses by plane: `127.0.0.1:8686`, `unix:/opt/berth/run/berth.sock`. */
  addresses: { orchestration: string[]; identity: string[]; observability: string[] };
  /** Refuses new requests, lets running ones end, then releases everything. Containers keep running. */
  stop(): Promise<void>;
}

const stopGraceMs = 10_000;

/**
 * The composition root: opens the store, connects to the engine, serves the planes. Where a step fails, or the signal
 * aborts, it closes what was opened and rejects.
 */
export async function startDaemon(options: ServeOptions, log: Log, starting: OpenedOptions = {}): Promise<Daemon> {
  const opened = createOpened(starting);
  try {
    return await start(options, log, opened);
  } catch (error) {
    await opened.close().catch((failure: unknown) => log.error("not closed", { error: failure }));
    throw error;
  }
}

async function start(options: ServeOptions, log: Log, opened: Opened): Promise<Daemon> {
  const { step } = opened;
  const { layout, names, key, word, store, gate } = await openRoot(options, log, opened);
  const { sendWebhooks, sendMail } = createSenders({ options, key, names, gate });
  // People are signed out, or see an error, where these two refuse connections: they open first and close last.
  const identity = await openIdentity({ opened, layout, options, key, gate, log, sendMail, sendWebhooks });
  const identityListener = await step(
    "listen for the identity service",
    () => openAt(options.identityAddr, () => listenForIdentity(identity, options, { ingress: word, log })),
    (it) => it?.stop(stopGraceMs),
  );
  const planeServed = Promise.withResolvers<Observability>();
  const planeListener: PlaneListener | undefined = await step(
    "listen for the observability plane",
    () =>
      listenForPlane(
        {
          ...{ layout, key, log, ingress: word, installationId: store.installationId, prefix: options.prefix },
          observability: planeServed.promise,
        },
        options,
      ),
    (it) => it?.stop(0),
  );
  const { dockerHost: host } = options;
  const made = await step(
    "make the engine",
    () =>
      drainedEngine(
        createLocalEngine(createDockerRuntime({ host, installationId: store.installationId, names }), names),
        async (container) => observability?.observability.logs.drain(container),
      ),
    (it) => it.close(),
  );
  const network = createNetworkRoom({ engine: made, store, layout, names, options, log });
  const { engine } = network;
  await step("close the way out for connections to containers", network.restore);
  let ingressRoom: IngressRoom | undefined;
  const routes = {
    plugin: options.ingressPlugin,
    isOwnOff: options.ingressHttpAddr === "" && options.ingressHttpsAddr === "",
  };
  let observability: ReturnType<typeof createObservabilityRoom> | undefined;
  let runDoor: RunDoor | undefined;
  let [door, telemetry]: (Door | undefined)[] = [];
  const plugins = await step("recover the plugins", () =>
    createPluginRoom({
      layout,
      names,
      options,
      installationId: store.installationId,
      log,
      controllerUrl: (token) => runDoor?.url(token),
      configOf: (plugin) => store.pluginConfig.of(plugin),
      callbacks: { url: () => door?.url(), open: async () => door?.open() },
      onChange: () => ingressRoom?.plugins.pluginsChanged(),
    }),
  );
  const running = createController({
    store,
    gate,
    engine,
    assets: createAssets(layout.assets),
    layout,
    names,
    clock: systemClock,
    log,
    limits: { ...limits, ingress: { ...limits.ingress, anyPolicy: routes.plugin !== "" || routes.isOwnOff } },
    plugins,
    randomBytes: (count) => randomBytes(count),
    freeMemory: availableMemoryBytes,
    fetch: (url, options) => direct(url, { ...options, redirect: "manual" }),
    download: createDownload({
      fetch: createPinned(proxyVariables()),
      resolve: resolveHost,
      allowPrivate: options.allowPrivateWebhooks,
    }),
    buildArguments: proxyArguments(proxyVariables()),
    ...telemetryTarget(options, () => telemetry),
    statsIntervalMs: options.statsIntervalMs,
    ingressGate: gateOf(() => ingressRoom),
    forwarding: network.forwarding,
    ingressProblem: () => ingressRoom?.problem(),
    ingressServed: (manifest) => ingressRoom?.views.served(manifest),
    routing: routes,
    ingressPluginOf: (id) => ingressRoom?.plugins.of(id),
    trafficOf: (key, span) => ingressRoom?.trafficOf(key, span),
    ingressUse: async () => (await ingressRoom?.use()) ?? (() => undefined),
    privateWebhooks: options.allowPrivateWebhooks,
    sendWebhook: sendWebhooks({ allowPrivate: options.allowPrivateWebhooks }),
    listeners: () =>
      Object.entries({ identity: identityListener?.address, observability: planeListener?.local }).flatMap(
        ([name, address]) => (address === undefined ? [] : [{ name, address }]),
      ),
    about: aboutServer(options),
  });
  const { certificates, challenge } = createCertificateRoom({
    store,
    controller: running.controller,
    names,
    log,
    gate,
  });
  const inside = createInside(() => app.inside);
  const sources = sourceReader({ layout, options, controller: running.controller });
  const observabilityRoom = await step(
    "open the observability plane",
    () =>
      createObservabilityRoom({
        ...{ layout, key, log, gate, installationId: store.installationId, apps: running.apps },
        ...{ measures: running.measures, taken: () => ingressRoom?.takenFigures() ?? [] },
        podLogs: (name, reading) => running.controller.podLogs(name, reading),
        inside: podInside(running.controller, engine),
        endpoints: () => running.endpoints.list(),
        ...{ options, sendMail },
        sendWebhook: sendWebhooks({ allowPrivate: options.allowPrivateWebhooks }),
        ask: inside.ask,
        ...{ engine, sources, people: identity.identity.ownApp },
      }),
    (it) => it.close(),
  );
  observability = observabilityRoom;
  const ingressRoomMade = await createIngressRoom({
    step,
    gate,
    options,
    ingressWord: word,
    layout,
    names,
    log,
    engine,
    helper: (program) => createHelper(engine, { names, installationId: store.installationId }, program),
    store,
    endpoints: running.endpoints,
    sleep: running.sleep,
    certificates,
    routers: routingPlugins(plugins.registry, running.controller),
    onPluginRoute: (ingress) => running.reconciler.enqueue(ingress),
    planeAddresses: () => ({ "@identity": identityListener?.address, "@observability": planeListener?.local }),
  });
  ingressRoom = ingressRoomMade;
  const { ingress, views } = ingressRoomMade;
  challenge.connect(ingress.challenges);
  const app = createOrchestrationApp({
    controller: running.controller,
    mountOthers(plane, paging) {
      mountIdentity(plane, identity.identity.manage, paging);
      mountIngress(plane, { certificates: createCertificateViews(certificates), views });
      mountObservability(plane, observabilityRoom.observability);
      mountSources(plane, sources);
    },
    version: versionText(),
    once: createOnce({ store, clock: systemClock, log, limits }),
    names,
    log,
    limits,
  });
  const runs = await step(
    "listen for runs of plugins",
    () => runDoorOf({ running, names, app, log }),
    (it) => it.stop(0),
  );
  runDoor = runs;
  const access = await step("open the root to operators", () => openPlane(options, layout, names));
  // Health checks of a proxy come the moment that the port opens.
  await step("look at what runs", () => running.firstLook(limits.firstLookMs));
  const front = await step(
    "listen for the orchestration plane",
    () =>
      startFront({
        ...access,
        app: withContractClient(app.fetch, {
          prefix: names.prefix,
          log,
          limits: { ...limits, ...contractClientLimits },
        }),
        takeover: app.takeover,
        limits,
        log,
      }),
    (it) => it.stop(0),
  );
  planeServed.resolve(observabilityRoom.observability);
  const stopping = new AbortController();
  const recording = new AbortController();
  door = callbackDoor({ options, running, engine, names, plane: app.behind, log });
  telemetry = telemetryDoor({ options, engine, names, running, observability: observabilityRoom.observability, log });
  const controlling = running.run(stopping.signal);
  const working = Promise.all([
    controlling,
    identity.run(stopping.signal),
    door?.run(stopping.signal),
    telemetry?.run(stopping.signal),
    network.run(stopping.signal),
    certificates.run(stopping.signal),
    ingressRoomMade.run(stopping.signal),
    observabilityRoom.run(recording.signal),
  ]);

  return {
    addresses: {
      orchestration: front.addresses,
      identity: identityListener === undefined ? [] : [identityListener.address],
      observability: planeListener?.addresses ?? [],
    },
    async stop() {
      let late: Timer | undefined;
      try {
        // What changes apps is answered before nothing carries it out any more.
        const closed = Promise.all([front, runs, inside].map((one) => one.stop(stopGraceMs)));
        observabilityRoom.observability.streams.shut();
        await closed;
        stopping.abort();
        // An engine that hangs is not waited for: what is under way in it is taken up by the next server.
        late = setTimeout(() => engine.close(), stopGraceMs);
        // A container that is being removed hands over its last lines.
        await controlling.finally(() => recording.abort());
        await working;
        await planeListener?.stop(stopGraceMs);
      } finally {
        clearTimeout(late);
        // The listener of the identity service is closed here, when only its store is still open.
        await opened.close();
      }
    },
  };
}
