import { mountBackups } from "../../src/backups/http/mount.ts";
import type { Backups } from "../../src/backups/service/create.ts";
import type { Rehearsals } from "../../src/backups/service/rehearsals.ts";
import type { Drills } from "../../src/backups/service/drills.ts";
import type { Repairs } from "../../src/backups/service/repairs.ts";
import type { Restores } from "../../src/backups/service/restore.ts";
import { openGate } from "./open-gate.ts";
import { tokenId } from "../../src/observability/core/tokens/format.ts";
import { hashOf } from "../../src/observability/service/tokens/tokens.ts";
import type { Scope } from "../../src/base/wire/endpoint.ts";
import { tokenPrincipal, unnamed } from "../../src/access/principal.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { observabilityLimits } from "../../src/config/observability-limits.ts";
import { alertLimits } from "../../src/config/alert-limits.ts";
import { limits } from "../../src/config/config.ts";
import { createInside } from "../../src/daemon/inside.ts";
import type { MetricsRoom } from "../../src/observability/service/metrics/create.ts";
import { type Connected, type Listener, startListener } from "../../src/base/http/listener.ts";
import { Failure } from "../../src/base/wire/failure.ts";
import { podInside } from "../../src/daemon/pods.ts";
import { createLog } from "../../src/base/words/log.ts";
import { createObservabilityApp, type ObservabilityApp } from "../../src/observability/http/app.ts";
import { planeRefusals } from "../../src/observability/http/refusals.ts";
import { planeOfInstances } from "../../src/observability/http/identity.ts";
import { mountObservability } from "../../src/observability/http/shared.ts";
import { createSessionCookie } from "../../src/observability/http/session-cookie.ts";
import { mountIdentity } from "../../src/identity/http/manage/mount.ts";
import type { Identity } from "../../src/identity/service/identity.ts";
import { type IngressRoutes, mountIngress } from "../../src/ingress/http/mount.ts";
import { createObservability, type RunningObservability } from "../../src/observability/service/create.ts";
import type { StartDecodeThread } from "../../src/observability/service/telemetry/decode-thread.ts";
import type { TracePlatform } from "../../src/observability/service/traces/create.ts";
import type { LogPlatform } from "../../src/observability/service/logs/create.ts";
import type { Platform, PodInside } from "../../src/observability/service/platform.ts";
import type { PlaneLimits } from "../../src/observability/service/context.ts";
import { observabilityMigrations } from "../../src/observability/store/migrations/all.ts";
import { type ObservabilityStore, openObservabilityStore } from "../../src/observability/store/open-store.ts";
import type { Controller } from "../../src/orchestration/controller/controller.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { mountSources } from "../../src/orchestration/http/sources.ts";
import { createOrchestrationApp, mountOrchestration } from "../../src/orchestration/http/app.ts";
import type { SourceReader } from "../../src/orchestration/api/sources.ts";
import type { AppFacts } from "../../src/orchestration/api/app-facts.ts";
import { type FakeWatch, fakeWatch } from "./app-facts.ts";
import { testMetrics } from "./metrics.ts";
import { decodeHere } from "./otlp.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { createRecordingController, type RecordedCall } from "./recording-controller.ts";
import { putDatabase, testKey } from "./store-root.ts";

export interface TestObservabilityStore {
  store: ObservabilityStore;
  path: string;
  remove(): void;
}

/** The database of the plane in a folder of its own; `remove` it after. */
export function openTestObservabilityStore(): TestObservabilityStore {
  const folder = mkdtempSync(join(tmpdir(), "berth-observability-"));
  const path = join(folder, "observability.db");
  putDatabase(path, observabilityMigrations);
  const store = openObservabilityStore({ path, key: testKey });
  return {
    store,
    path,
    remove() {
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface PlaneWorld {
  clock: FakeClock;
  store: ObservabilityStore;
  /** What runs, as the controller tells it. */
  watch: FakeWatch;
  running: RunningObservability;
  metrics: MetricsRoom;
  app: ObservabilityApp;
  /** The same app on a listener of its own; stop it after. */
  listen(options?: ListenOptions): Listener;
  /** Calls that reached the controller behind the orchestration plane. */
  calls: RecordedCall[];
  /** Lines of the log, of every level. */
  lines: string[];
  /** The address that the next requests come from. */
  peer: { ip: string };
  /** On the observability plane: `ask("GET /whoami", { token })`; the prefix is added to a path without `/api`. */
  ask(request: string, options?: AskOptions): Promise<PlaneAnswer>;
  /** On the orchestration plane, as an operator. */
  manage(request: string, body?: unknown): Promise<PlaneAnswer>;
  /** A new token. */
  token(scopes?: readonly string[], more?: Record<string, unknown>): Promise<string>;
  /** A token as older versions let it be made: with `admin`, and limited to apps. */
  olderToken(scopes: readonly Scope[], apps: readonly string[]): Promise<string>;
  close(): void;
}

interface ListenOptions {
  idleMs?: number;
  tls?: { cert: string; key: string };
}

interface AskOptions {
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface PlaneAnswer {
  status: number;
  headers: Headers;
  /** `data` of the envelope. */
  data: Record<string, unknown>;
  error: string;
  text: string;
}

interface WorldOptions {
  controller?: Partial<Controller>;
  limits?: Partial<PlaneLimits> & { pingMs?: number };
  /** Apps that run at the beginning. */
  apps?: readonly AppFacts[];
  clock?: FakeClock;
  /** What the room of the logs works with; without it no logs are kept. */
  logs?: LogPlatform;
  /** Where traces are kept; without it there are none. */
  traces?: TracePlatform;
  /** What decodes telemetry; without it, this process. */
  decoding?: StartDecodeThread;
  /** Containers of plugins; without it no plugin has routes. */
  routes?: NonNullable<Platform["routes"]>;
  /** What reads the source of apps; without it there is none. */
  sources?: SourceReader;
  /** The identity service, managed on the orchestration plane; without it there is none. */
  identity?: Pick<Identity, "manage" | "ownApp">;
  /** What the ingress shows; without it there are no sites. */
  ingress?: IngressRoutes;
  /** What containers do; without it, what the controller does. */
  inside?: Partial<PodInside>;
}

const noIdentity: Identity["ownApp"] = {
  isServed: false,
  redeem: () => Promise.resolve(undefined),
  stands: () => false,
  end: () => Promise.resolve(),
};

const noSources = { uploadBytesMax: 0 } as SourceReader;

const noIngress = {
  certificates: { list: () => ({ certificates: [] }) },
  views: { status: () => Promise.resolve({ proxy: { state: "off" }, sites: [] }), traffic: () => ({ sites: [] }) },
} as unknown as IngressRoutes;

const noEngine = {
  named: (name: string) => ({ node: "local", id: name }),
  exec: () => Promise.reject(new Failure("unavailable", "there is no engine here")),
};

/** The observability plane in process, over the real orchestration plane with a controller that records. */
export function planeWorld(options: WorldOptions = {}): PlaneWorld {
  const clock = options.clock ?? createFakeClock();
  const lines: string[] = [];
  const log = createLog((line) => void lines.push(line), "debug");
  const { store, remove } = openTestObservabilityStore();
  const { controller, calls } = createRecordingController(options.controller);
  const watch = fakeWatch(options.apps);
  const metrics = testMetrics({ clock, log });
  const { as: insideOf } = createInside((actor, by) => orchestration.as(actor, by));
  const running = createObservability({
    gate: openGate,
    metrics: metrics.room,
    prefix: "berth",
    store,
    clock,
    log,
    limits: { ...observabilityLimits, ...options.limits },
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    alerts: {
      ...{ limits: alertLimits, server: "vps1", product: "berth", sources: {} },
      sendWebhook: () => Promise.resolve({ outcome: "delivered", result: "status 200" }),
      sendMail: undefined,
      ping: () => Promise.resolve({ status: 200, body: "" }),
    },
    people: options.identity?.ownApp ?? noIdentity,
    platform: {
      apps: watch,
      podLogs: (name, reading) => controller.podLogs(name, reading),
      inside: { ...podInside(controller, noEngine), ...options.inside },
      upcoming: (_, { now, max }) => Array.from({ length: max }, (__, index) => now + (index + 1) * 3_600_000),
      ...(options.logs === undefined ? {} : { logs: options.logs }),
      ...(options.traces === undefined ? {} : { traces: options.traces }),
      decoding: options.decoding ?? decodeHere,
      ...(options.routes === undefined ? {} : { routes: options.routes }),
      as: (actor, grant) => insideOf(actor, grant === undefined ? unnamed : tokenPrincipal(grant)),
    },
  });
  const { observability } = running;
  const own = { controller, version: "test", names: naming(), limits };
  const orchestration = createOrchestrationApp({
    ...own,
    mountOthers(plane, paging) {
      mountObservability(plane, observability);
      if (options.identity !== undefined) mountIdentity(plane, options.identity.manage, paging);
      if (options.ingress !== undefined) mountIngress(plane, options.ingress);
    },
    log,
  });
  const peer = { ip: "192.0.2.1" };
  const cookie = createSessionCookie({ key: testKey, installation: "test", now: clock.now });
  const appOn = (connected: Connected) =>
    createObservabilityApp({
      observability,
      connected,
      trustedProxies: ["127.0.0.1/32"],
      cookie,
      mountOthers(plane) {
        mountOrchestration(plane, own);
        mountSources(plane, options.sources ?? noSources);
        const rehearsals = {} as Rehearsals<unknown>;
        mountBackups(plane, {} as Backups, {
          restores: { plan: async () => ({ volumes: [], at: "", unreachable: [] }) } as unknown as Restores,
          drills: {} as Drills,
          rehearsals,
          repairs: {} as Repairs,
        });
        mountIngress(plane, options.ingress ?? noIngress);
        const instances = planeOfInstances(plane, observability.identity);
        // Without an identity service its endpoints are there all the same, and fail.
        const manage = options.identity?.manage ?? ({} as Identity["manage"]);
        mountIdentity(instances, manage, { pageMax: limits.eventsPageMax });
      },
      version: "test",
      headerPrefix: "X-Berth",
      log,
      limits: { ...observabilityLimits, ...options.limits },
    });
  const app = appOn({ peerOf: () => peer.ip, upgrade: () => false, keepOpen: () => undefined });
  const listen = ({ idleMs = observabilityLimits.idleMs, tls }: ListenOptions = {}) =>
    startListener({
      address: { hostname: "127.0.0.1", port: 0 },
      handler: (connected) => appOn(connected).fetch,
      refusals: planeRefusals,
      tls,
      limits: { ...observabilityLimits, idleMs },
      log,
    });
  const ask = async (request: string, { token, body, headers = {} }: AskOptions = {}): Promise<PlaneAnswer> => {
    const [method = "", target = ""] = request.split(" ", 2);
    const path = /^\/(?:api|ui|sign-in|$)/.test(target) ? target : `/api/pat/v1${target}`;
    const sent = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const own = token === undefined ? headers : { Authorization: `Bearer ${token}`, ...headers };
    const init = { method, headers: own, ...(sent === undefined ? {} : { body: sent }) };
    return read(await app.fetch(new Request(`http://plane.test${path}`, init)));
  };
  const manage = async (request: string, body?: unknown): Promise<PlaneAnswer> => {
    const [method = "", target = ""] = request.split(" ", 2);
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    return read(await orchestration.fetch(new Request(`http://localhost${target}`, { method, ...sent })));
  };
  const self: PlaneWorld = {
    ...{ clock, store, running, metrics: metrics.room, app, listen, calls, lines, peer, ask, manage, watch },
    async token(scopes = ["read"], more = {}) {
      const { status, data, text } = await manage("POST /pats", { scopes, ...more });
      if (status !== 201) throw new Error(text);
      return String(data.token);
    },
    async olderToken(scopes, apps) {
      const token = await self.token(scopes);
      const id = tokenId(token);
      const older = `${token.slice(0, 4)}old${token.slice(7, 10)}${token.slice(10)}`;
      await store.write(({ tokens }) => {
        const known = tokens.withHash(id);
        if (known === undefined) throw new Error("the token is not stored");
        tokens.add({ ...known.token, id: tokenId(older), apps }, hashOf(older));
      });
      return older;
    },
    close() {
      running.close();
      metrics.remove();
      remove();
    },
  };
  return self;
}

async function read(response: Response): Promise<PlaneAnswer> {
  const text = await response.text();
  const { status, headers } = response;
  const envelope = parse(text);
  return { status, headers, data: envelope.data ?? {}, error: envelope.error ?? "", text };
}

/** A stream is no envelope. */
function parse(text: string): { data?: Record<string, unknown>; error?: string } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
