import { createDownload } from "../../src/base/deliver/download.ts";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { operator, type Principal } from "../../src/access/principal.ts";
import type { DataOf } from "../../src/base/wire/endpoint.ts";
import type { Manifest, ManifestKey } from "../../src/orchestration/api/manifest.ts";
import type { ApplyResult } from "../../src/orchestration/api/apply.ts";
import type { describe, PodKindStatus } from "../../src/orchestration/api/describe.ts";
import type { StoredEvent, Store } from "../../src/orchestration/store/store.ts";
import { limits } from "../../src/config/config.ts";
import type { UsageOf } from "../../src/orchestration/controller/desired/autoscale.ts";
import type { ControllerLimits, Outside } from "../../src/orchestration/controller/state/context.ts";
import type { Controller } from "../../src/orchestration/controller/controller.ts";
import { createController } from "../../src/orchestration/controller/create.ts";
import type { RunningController } from "../../src/orchestration/controller/running.ts";
import type { IngressGate } from "../../src/orchestration/controller/state/ingress-gate.ts";
import type { Knock } from "../../src/orchestration/controller/state/knock.ts";
import type { TrafficOf } from "../../src/orchestration/controller/state/receipts.ts";
import type { PluginRoom } from "../../src/orchestration/controller/state/plugin-room.ts";
import { mapSecrets } from "../../src/orchestration/core/mask.ts";
import type { SendWebhook } from "../../src/base/deliver/webhook.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { type Assets, createAssets } from "../../src/base/disk/assets.ts";
import { type Layout, layoutOf } from "../../src/base/disk/layout.ts";
import { prepareRoot } from "../../src/base/disk/root.ts";
import type { SteadyClock } from "../../src/base/words/clock.ts";
import { createGate } from "../../src/base/deliver/gate.ts";
import { createLog, type Log } from "../../src/base/words/log.ts";
import { createMemoryRuntime, type MemoryRuntime } from "./memory-runtime.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import { stateMigrations } from "../../src/orchestration/store/migrations/all.ts";
import { openStore } from "../../src/orchestration/store/open-store.ts";
import { createActivity } from "./activity.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { fixtureImage } from "./manifests.ts";
import { type AfterCall, createPower } from "./power.ts";
import { secondsText, unsettled } from "./settled.ts";
import { putDatabase, testKey } from "./store-root.ts";
import { createAdvance } from "./turns.ts";
import { waitFor } from "./wait.ts";
import { deliverAll } from "./webhooks.ts";

/**
 * A whole controller on a machine of its own: a real store and real files in a temporary root, the memory engine, and
 * time that moves by hand. Nothing sleeps for real, and the same calls give the same outcome.
 */
export interface World {
  readonly controller: Controller;
  readonly running: RunningController;
  readonly store: Store;
  readonly runtime: MemoryRuntime;
  /** The machine as a controller sees it, past the server of this world. */
  readonly engine: Engine;
  readonly clock: FakeClock;
  readonly assets: Assets;
  readonly layout: Layout;
  readonly limits: ControllerLimits;
  readonly log: Log;
  /** Every line that was logged, debug included. */
  readonly logged: string[];

  apply(
    body: Manifest | Manifest[],
    options?: {
      dryRun?: boolean;
      prune?: boolean;
      force?: boolean;
      atomic?: boolean;
      message?: string;
      by?: Principal;
    },
  ): Promise<ApplyResult>;
  describe(kind: string, scope: string, name: string): Promise<DataOf<typeof describe>>;
  status(kind: string, scope: string, name: string): Promise<PodKindStatus>;
  /** Names of the containers on the machine, sorted, whoever made them. */
  containers(): string[];
  events(action?: string): StoredEvent[];
  /** Lets everything happen that can happen without time passing. */
  quiet(): Promise<void>;
  /** Lets time pass, from one due moment to the next. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until everything stored is ready and at rest; fails, saying what is not, after `withinMs`. */
  settle(withinMs?: number): Promise<void>;
  /** The server goes away; containers and files stay. */
  stop(): Promise<void>;
  /** The server comes back: a new controller over the same store and machine. */
  restart(): Promise<void>;
  /** As kill -9: the server does nothing any more, and is told nothing. */
  cutPower(): void;
  hasPower(): boolean;
  /** As kill -9 and a new start. */
  crash(): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions {
  limits?: Partial<ControllerLimits>;
  /** What the controller gets instead of the plain memory engine. */
  wrapRuntime?: (runtime: MemoryRuntime) => Engine;
  /** What the controller gets instead of the plain store. */
  wrapStore?: (store: Store) => Store;
  /** What the controller reads the time from, instead of the plain clock. */
  wrapClock?: (clock: FakeClock) => SteadyClock;
  fetch?: (url: string, options: { signal: AbortSignal }) => Promise<Response>;
  /** Which ports of containers are open; all, where left out. */
  knock?: Knock;
  /** What the autoscaler sees. */
  usageOf?: UsageOf;
  ingressGate?: IngressGate;
  /** What visitors saw; without it there is no ingress. */
  trafficOf?: TrafficOf;
  /** How much apps are in use; without it none goes to sleep by itself. */
  ingressUse?: Outside["ingressUse"];
  ingressServed?: Outside["ingressServed"];
  buildArguments?: Outside["buildArguments"];
  /** Of the machine, bytes. */
  freeMemory?: Outside["freeMemory"];
  newestCopy?: Outside["newestCopy"];
  bringImage?: Outside["bringImage"];
  copyBefore?: Outside["copyBefore"];
  privateWebhooks?: boolean;
  /** What becomes of webhook calls; delivered at once where left out. */
  sendWebhook?: SendWebhook;
  /** Without it there are none. */
  plugins?: (layout: Layout) => PluginRoom;
  /** Whether a restore waits to be confirmed; as the store says where left out. */
  isHeld?: () => boolean;
  actsSince?: () => number;
  /** Where the engine is down from the start. */
  engineDown?: boolean;
  /** Told of every engine call and store write that was done, before the server that asked learns of it. */
  afterCall?: AfterCall;
}

/** Files come by the same way as answers to probes, from this machine. */
function outgoing(fetch: Outside["fetch"]): Pick<Outside, "fetch" | "download"> {
  const download = createDownload({
    fetch: (url, { signal }) => fetch(url, { signal: signal ?? new AbortController().signal }),
    resolve: () => Promise.resolve(["127.0.0.1"]),
    allowPrivate: true,
  });
  return { fetch, download };
}

/** Makes a world and starts its server. The fixture image is on the machine. */
export async function world(options: WorldOptions = {}): Promise<World> {
  const layout = layoutOf(mkdtempSync(join(tmpdir(), "world-")));
  await prepareRoot(layout);
  const clock = createFakeClock();
  const activity = createActivity();
  const logged: string[] = [];
  const log = createLog((line) => logged.push(line), "debug");
  putDatabase(layout.database, stateMigrations);
  const store = openStore({
    path: layout.database,
    lockPath: layout.lock,
    key: testKey,
    mapSecrets,
    // Nothing sleeps for real.
    limits: { ...limits, gatherMs: 0 },
    onListenerError: (error) => log.error("store listener failed", { error }),
  });
  let engineSleeps = 0;
  const engineClock = {
    now: clock.now,
    async sleep(ms: number) {
      engineSleeps += 1;
      await clock.sleep(ms);
      engineSleeps -= 1;
    },
  };
  const runtime = createMemoryRuntime({ clock: engineClock, installationId: store.installationId });
  runtime.addImage(fixtureImage);
  if (options.engineDown) runtime.engineDown();
  const fetching = { fetch: options.fetch ?? ((url, { signal }) => fetch(url, { signal, redirect: "manual" })) };
  const assets = activity.watch(createAssets(layout.assets), ["put", "verify", "read", "list", "remove"]);
  const link = watchLink(options.wrapRuntime?.(runtime) ?? runtime);
  const parts = {
    store: activity.watch(options.wrapStore?.(store) ?? store, ["write"]),
    assets,
    layout,
    names: naming(),
    clock: options.wrapClock?.(clock) ?? clock,
    log,
    limits: { ...limits, ...options.limits },
    randomBytes: createSeries(),
    ...outgoing(activity.watch(fetching, ["fetch"]).fetch),
    sendWebhook: options.sendWebhook ?? deliverAll,
    knock: activity.watch({ knock: options.knock ?? (async () => undefined) }, ["knock"]).knock,
    ...(options.ingressGate === undefined ? {} : { ingressGate: options.ingressGate }),
    ...(options.trafficOf === undefined ? {} : { trafficOf: options.trafficOf }),
    ...(options.buildArguments === undefined ? {} : { buildArguments: options.buildArguments }),
    ...(options.freeMemory === undefined ? {} : { freeMemory: options.freeMemory }),
    ...(options.newestCopy && { newestCopy: options.newestCopy }),
    ...(options.copyBefore && { copyBefore: options.copyBefore }),
    ...(options.bringImage && { bringImage: options.bringImage }),
    ...(options.ingressUse === undefined ? {} : { ingressUse: options.ingressUse }),
    ...(options.ingressServed === undefined ? {} : { ingressServed: options.ingressServed }),
  };
  const usage = options.usageOf === undefined ? {} : { usageOf: options.usageOf };
  const about = { version: "test", dockerHost: "memory", startedAt: clock.now() };
  const statsIntervalMs = 0;
  let server = start();

  function start() {
    const stopping = new AbortController();
    const power = createPower(options.afterCall);
    const running = createController({
      ...parts,
      ...usage,
      ...(options.plugins === undefined ? {} : { plugins: options.plugins(layout) }),
      privateWebhooks: options.privateWebhooks ?? false,
      statsIntervalMs,
      about: { ...about, startedAt: clock.now() },
      // Watched inside: what a dead server waits for in vain is not under way.
      store: power.feed(parts.store, ["write"]),
      gate: createGate({
        heldBy: () =>
          (options.isHeld?.() ?? store.actionsHeld) ? "restored; first: berth restore --confirm" : undefined,
        ...(options.actsSince === undefined ? {} : { actsSince: options.actsSince }),
        clock: parts.clock,
        lookMs: parts.limits.gateLookMs,
      }),
      engine: power.feed(link.engine, engineCalls),
      ...outgoing(power.feed(parts, ["fetch"]).fetch),
      clock: power.feedClock(parts.clock),
    });
    return { running, stopping, power, ended: running.run(stopping.signal) };
  }

  async function quiet() {
    const busy = () => server.running.reconciler.queued() > 0 && engineSleeps === 0 && link.waiting() === 0;
    const rests = (since: number) => !busy() || performance.now() - since > restMs;
    for (let calm = 0, ticks = 0, since = performance.now(); calm < 3 || !rests(since); ticks++) {
      // What is left to wait for is work on files: no turn of the loop makes that faster.
      await (calm < 3 ? new Promise((resolve) => setImmediate(resolve)) : Bun.sleep(1));
      if (activity.underWay > 0) since = performance.now();
      calm = activity.underWay > 0 ? 0 : calm + 1;
      if (ticks > ticksMax) throw new Error(`no rest: ${server.running.reconciler.queued()} resources under way`);
    }
  }

  /** With plugins, what a server before may have left running is looked for first: on the real machine, in real time. */
  async function connected() {
    await quiet();
    if (options.plugins === undefined || options.engineDown) return;
    await waitFor("the engine to be connected", () => link.isOpen());
    await quiet();
  }

  const advance = createAdvance(clock, quiet);

  async function stop() {
    let ended = false;
    server.stopping.abort();
    void server.ended.then(() => (ended = true));
    // A call that is under way in the engine is waited for.
    for (await quiet(); !ended; await quiet()) clock.moveTo(clock.nextDue() ?? clock.steady());
  }

  const self: World = {
    get controller() {
      return server.running.controller;
    },
    get running() {
      return server.running;
    },
    store,
    runtime,
    engine: runtime,
    clock,
    assets,
    layout,
    limits: parts.limits,
    log,
    logged,
    apply: (body, { dryRun = false, prune = false, force = false, atomic = false, message, by = operator } = {}) =>
      self.controller.apply(body, { dryRun, prune, force, ...(atomic ? { atomic } : {}), actor: "test", by, message }),
    describe: (kind, scope, name) => self.controller.describe({ kind, scope, name }),
    async status(kind, scope, name) {
      const { status } = await self.describe(kind, scope, name);
      return status as PodKindStatus;
    },
    containers: () => namesOf(runtime),
    events: (action) =>
      store.events.list({ limit: 100_000 }).filter((event) => action === undefined || event.action === action),
    quiet,
    advance,
    async settle(withinMs = 120_000) {
      const until = clock.steady() + withinMs;
      await quiet();
      const waits = () => (link.isOpen() ? unsettled(store) : ["the engine is not connected"]);
      while (waits().length > 0) {
        const due = clock.nextDue() ?? until + 1;
        if (due > until) throw new Error(`not settled within ${secondsText(withinMs)}:\n${waits().join("\n")}`);
        clock.moveTo(due);
        await quiet();
      }
    },
    stop,
    async restart() {
      await stop();
      server = start();
      await connected();
    },
    cutPower: () => server.power.cut(),
    hasPower: () => server.power.on,
    async crash() {
      server.power.cut();
      server = start();
      await connected();
    },
    async close() {
      if (server.power.on) await stop();
      store.close();
      rmSync(layout.root, { recursive: true, force: true });
    },
  };
  await connected();
  return self;
}

/** Knows whether the controller follows the engine's events, and how much of its work waits for containers. */
function watchLink(engine: Engine): { engine: Engine; isOpen(): boolean; waiting(): number } {
  let open = false;
  let waits = 0;
  const draining = new Set<string>();
  async function* events(signal: AbortSignal, onOpen: () => void) {
    const opened = () => {
      open = true;
      onOpen();
    };
    try {
      yield* engine.events(signal, opened);
    } finally {
      open = false;
    }
  }
  const watched: Pick<Engine, "wait" | "connections" | "stop"> = {
    wait(pod, signal) {
      waits += 1;
      return engine.wait(pod, signal).finally(() => (waits -= 1));
    },
    async connections(pod) {
      const seen = await engine.connections(pod);
      if (seen?.listening) draining.add(pod.id);
      return seen;
    },
    stop(pod, options) {
      draining.delete(pod.id);
      return engine.stop(pod, options);
    },
  };
  return {
    engine: { ...engine, ...watched, events },
    isOpen: () => open,
    waiting: () => waits + draining.size,
  };
}

/** Those that answer once; streams of a dead server lead nowhere by themselves. */
const engineCalls = [
  ...([
    "info",
    "observe",
    "inspect",
    "create",
    "start",
    "stop",
    "pause",
    "unpause",
    "remove",
    "rename",
    "exec",
    "check",
  ] as const),
  ...(["wait", "usage"] as const),
  ...(["ensureNetwork", "ensureVolume", "listVolumes", "inspectVolume", "volumeUsers", "removeVolume"] as const),
  ...(["inspectImage", "pull", "listImages", "removeImage", "connections", "portHolders", "freeBytes"] as const),
] as const;

/** Longer than any work on files takes, which nobody counts: then what is under way waits for time to pass. */
const restMs = 300;

/** Far more turns of the event loop than any real work takes. */
const ticksMax = 500_000;

/** Bytes that look random, never repeat, and are the same in every run. */
function createSeries(): (count: number) => Uint8Array {
  let made = 0;
  return (count) => new Uint8Array(createHash("sha256").update(String(made++)).digest().subarray(0, count));
}

function namesOf(runtime: MemoryRuntime): string[] {
  return runtime
    .containers()
    .map(({ name }) => name)
    .sort();
}

export function keyOf(kind: string, scope: string, name: string): ManifestKey {
  return { kind, scope, name };
}
