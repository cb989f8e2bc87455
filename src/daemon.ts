import { randomBytes } from "node:crypto";
import { startThread } from "./base/words/thread.ts";
import { identityLimits, limits, type ServeOptions } from "./config/config.ts";
import { aboutServer } from "./daemon-about.ts";
import { openPlane } from "./daemon-access.ts";
import { createIngressRoom, gateOf, type IngressRoom } from "./daemon-ingress.ts";
import { pluginRunner } from "./daemon-plugin-routes.ts";
import { createCertificateRoom } from "./daemon-certificates.ts";
import { createController } from "./orchestration/controller/create.ts";
import { drainedEngine } from "./daemon-logs.ts";
import { telemetryDoor, telemetryTarget } from "./daemon-telemetry.ts";
import type { PlaneListener } from "./daemon-plane-listener.ts";
import { podInside } from "./daemon-pods.ts";
import { createObservabilityRoom } from "./daemon-observability.ts";
import { callbackDoor, createPluginRoom, runDoorOf } from "./daemon-plugins.ts";
import { mapSecrets } from "./orchestration/core/mask.ts";
import { naming } from "./orchestration/core/naming.ts";
import { createDownload } from "./base/deliver/download.ts";
import { resolveHost } from "./base/deliver/resolve-host.ts";
import { createAssets } from "./base/disk/assets.ts";
import { loadKey } from "./base/disk/key-file.ts";
import { ingressWord } from "./base/http/ingress-word.ts";
import { layoutOf } from "./base/disk/layout.ts";
import { leaveSocketFolder, makeFolders, prepareRoot } from "./base/disk/root.ts";
import { createOrchestrationApp } from "./orchestration/http/app.ts";
import { mountIdentity } from "./identity/http/manage/mount.ts";
import { createSenders } from "./daemon-senders.ts";
import { sourceReader } from "./daemon-sources.ts";
import { mountSources } from "./orchestration/http/sources.ts";
import { mountObservability } from "./observability/http/manage/mount.ts";
import { mountIngress } from "./ingress/http/mount.ts";
import { createCertificateViews } from "./ingress/service/certificate-views.ts";
import type { Door } from "./orchestration/http/callbacks/door.ts";
import type { RunDoor } from "./orchestration/http/callbacks/run-door.ts";
import type { Listener } from "./base/http/listener.ts";
import { listenForIdentity } from "./daemon-identity.ts";
import { type Front, startFront } from "./base/http/front/front.ts";
import { createIdentity } from "./identity/service/create.ts";
import { availableMemoryBytes } from "./base/machine/memory.ts";
import { systemClock } from "./base/words/clock.ts";
import { createGate } from "./base/deliver/gate.ts";
import type { Log } from "./base/words/log.ts";
import { createOnce } from "./orchestration/controller/write/once.ts";
import { createDockerRuntime } from "./orchestration/engine/docker/docker.ts";
import { createLocalEngine } from "./orchestration/engine/local.ts";
import { createHelper } from "./orchestration/engine/local-helper.ts";
import { createForwardingWatch, examineForwarding } from "./local/forwarding.ts";
import { openIdentityStore } from "./identity/store/open-store.ts";
import { openStore } from "./orchestration/store/open-store.ts";
import { versionText } from "./version.ts";

export interface Daemon {
  /** Bound addresses by plane: `127.0.0.1:8686`, `unix:/opt/berth/run/berth.sock`. */
  addresses: { orchestration: string[]; identity: string[]; observability: string[] };
  /** Refuses new requests, lets running ones end, then lets go of everything. Containers keep running. */
  stop(): Promise<void>;
}

const stopGraceMs = 10_000;

interface Stoppable {
  stop(graceMs: number): Promise<void>;
}

/** The composition root: opens the store, connects to the engine, serves the planes. */
export async function startDaemon(options: ServeOptions, log: Log): Promise<Daemon> {
  const layout = layoutOf(options.root);
  await makeFolders(layout);
  const names = naming(options.prefix);
  const key = await loadKey(layout);
  const word = ingressWord(key, names.headerPrefix);
  const store = openStore({
    path: layout.database,
    lockPath: layout.lock,
    key,
    mapSecrets,
    limits,
    onListenerError: (error) => log.error("store listener failed", { error }),
  });
  // Leftovers are cleared only once the root is known to be ours.
  await prepareRoot(layout);
  const gate = createGate({ isHeld: () => store.actionsHeld, clock: systemClock, lookMs: limits.gateLookMs });
  const { sendWebhooks, sendMail } = createSenders({ options, key, names, gate });
  const { dockerHost: host } = options;
  const engine = drainedEngine(
    createLocalEngine(createDockerRuntime({ host, installationId: store.installationId, names }), names),
    async (container) => observability?.observability.logs.drain(container),
  );
  let observability: ReturnType<typeof createObservabilityRoom> | undefined;
  let runDoor: RunDoor | undefined;
  let [door, telemetry]: (Door | undefined)[] = [];
  const plugins = await createPluginRoom({
    layout,
    names,
    options,
    installationId: store.installationId,
    log,
    controllerUrl: (token) => runDoor?.url(token),
    callbacks: { url: () => door?.url(), open: async () => door?.open() },
  });
  const forwarding = createForwardingWatch({
    examine: () => examineForwarding(options.dockerHost, names.network),
    clock: systemClock,
    log,
    firstMs: limits.forwardingFirstMs,
    everyMs: limits.forwardingLookMs,
  });
  let ingressRoom: IngressRoom | undefined;
  const running = createController({
    store,
    gate,
    engine,
    assets: createAssets(layout.assets),
    layout,
    names,
    clock: systemClock,
    log,
    limits,
    plugins,
    randomBytes: (count) => randomBytes(count),
    freeMemory: availableMemoryBytes,
    fetch: (url, options) => fetch(url, { ...options, redirect: "manual" }),
    download: createDownload({
      fetch: (url, init) => fetch(url, init),
      resolve: resolveHost,
      allowPrivate: options.allowPrivateWebhooks,
    }),
    ...telemetryTarget(options, () => telemetry),
    statsIntervalMs: options.statsIntervalMs,
    ingressGate: gateOf(() => ingressRoom),
    forwarding: forwarding.facts,
    ingressProblem: () => ingressRoom?.problem(),
    ingressServed: (manifest) => ingressRoom?.views.served(manifest),
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
  const identityStore = openIdentityStore({
    path: layout.identityDatabase,
    key,
    usersKept: identityLimits.usersKept,
  });
  const identity = createIdentity({
    store: identityStore,
    gate,
    key,
    clock: systemClock,
    log,
    limits: identityLimits,
    randomBytes: (count) => randomBytes(count),
    fetch: (url, init) => fetch(url, init),
    resolve: resolveHost,
    baseUrl: options.identityBaseUrl,
    isServed: options.identityAddr !== "",
    allowPrivate: options.identityAllowPrivate,
    sendMail,
    sendWebhook: sendWebhooks({
      allowPrivate: options.identityAllowPrivate,
      allowFlag: "--identity-allow-private-endpoints",
    }),
    search: {
      database: layout.identityDatabase,
      index: layout.identityIndex,
      // Beside this file among the sources, and beside all chunks in the executable.
      start: startThread(new URL("./identity/store/search/worker.ts", import.meta.url).href),
    },
  });
  const { certificates, challenge } = createCertificateRoom({
    store,
    controller: running.controller,
    names,
    log,
    gate,
  });
  let identityListener: Listener | undefined;
  let planeListener: PlaneListener | undefined;
  const sources = sourceReader({ layout, options, controller: running.controller });
  const observabilityRoom = createObservabilityRoom({
    ...{ layout, key, log, gate, ingress: word, installationId: store.installationId, apps: running.apps },
    ...{ measures: running.measures, taken: () => ingressRoom?.takenFigures() ?? [] },
    podLogs: (name, reading) => running.controller.podLogs(name, reading),
    inside: podInside(running.controller, engine),
    endpoints: () => running.endpoints.list(),
    ...{ options, sendMail },
    sendWebhook: sendWebhooks({ allowPrivate: options.allowPrivateWebhooks }),
    ask: (request, principal) => app.inside(request, principal),
    ...{ engine, sources, people: identity.identity.ownApp },
  });
  observability = observabilityRoom;
  ingressRoom = await createIngressRoom({
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
    runPlugin: pluginRunner(running.controller),
    onPluginRoute: (ingress) => running.reconciler.enqueue(ingress),
    planeAddresses: () => ({ "@identity": identityListener?.address, "@observability": planeListener?.local }),
  });
  const { ingress, views } = ingressRoom;
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
  const listeners: Stoppable[] = [];
  const listened = async <L extends Stoppable>(listener: Promise<L> | L) => {
    const started = await listener;
    listeners.push(started);
    return started;
  };
  let front: Front;
  try {
    runDoor = await listened(runDoorOf({ running, names, app, log }));
    const access = await openPlane(options, layout, names);
    // Health checks of a proxy come the moment that the port opens.
    await running.firstLook(limits.firstLookMs);
    front = await listened(startFront({ ...access, app: app.fetch, takeover: app.takeover, limits, log }));
    const forUsers = listenForIdentity(identity, options, { ingress: word, log });
    if (forUsers !== undefined) identityListener = await listened(forUsers);
    planeListener = await observabilityRoom.listen(options);
    if (planeListener !== undefined) listeners.push(planeListener);
  } catch (error) {
    // A listener that stays open would keep the process, which has nothing to serve, from ending.
    await Promise.all(listeners.map((listener) => listener.stop(0)));
    ingressRoom.close();
    engine.close();
    throw error;
  }
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
    forwarding.run(stopping.signal),
    certificates.run(stopping.signal),
    ingressRoom.run(stopping.signal),
    observabilityRoom.run(recording.signal),
  ]);

  return {
    addresses: {
      orchestration: front.addresses,
      identity: identityListener === undefined ? [] : [identityListener.address],
      observability: planeListener?.addresses ?? [],
    },
    async stop() {
      const closed = Promise.all(listeners.map((listener) => listener.stop(stopGraceMs)));
      observabilityRoom.observability.streams.cutAll();
      await closed;
      stopping.abort();
      // An engine that hangs is not waited for: what is under way in it is taken up by the next server.
      const late = setTimeout(() => engine.close(), stopGraceMs);
      // A container that is being removed hands over its last lines.
      await controlling.finally(() => recording.abort());
      await working;
      clearTimeout(late);
      ingressRoom?.close();
      identity.close();
      observabilityRoom.close();
      engine.close();
      identityStore.close();
      store.close();
      await leaveSocketFolder(layout);
    },
  };
}
