import { limits, type ServeOptions } from "../config/config.ts";
import { contractClientLimits } from "../config/contract-client-limits.ts";
import { withContractClient } from "../compat/door.ts";
import type { Plane } from "../base/http/mount.ts";
import { startFront } from "../base/http/front/front.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Log } from "../base/words/log.ts";
import { createOpened, type Opened, type OpenedOptions } from "../base/words/opened.ts";
import { mountIdentity } from "../identity/http/manage/mount.ts";
import { mountIngress } from "../ingress/http/mount.ts";
import { createCertificateViews } from "../ingress/service/certificate-views.ts";
import { planeOfInstances } from "../observability/http/identity.ts";
import { mountObservability } from "../observability/http/shared.ts";
import { createOnce } from "../orchestration/controller/write/once.ts";
import { createOrchestrationApp, mountOrchestration } from "../orchestration/http/app.ts";
import { mountSources } from "../orchestration/http/sources.ts";
import { versionText } from "../version.ts";
import { mountBackups, mountDatabases } from "../backups/http/mount.ts";
import type { Backups } from "../backups/service/create.ts";
import type { Drills } from "../backups/service/drills.ts";
import type { Restores } from "../backups/service/restore.ts";
import { openPlane } from "./access.ts";
import { createBackupRoom } from "./backups.ts";
import { createDatabaseRoom } from "./databases.ts";
import { makeController } from "./controller.ts";
import { openEngine } from "./engine.ts";
import { openFirstListeners } from "./first-listeners.ts";
import type { Ground, Late } from "./ground.ts";
import { createInside } from "./inside.ts";
import { callbackDoor, recoverPlugins, runDoorOf } from "./plugins.ts";
import { openRooms } from "./rooms.ts";
import { openRoot } from "./root.ts";
import { createSenders } from "./senders.ts";
import { telemetryDoor } from "./telemetry.ts";

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
  const root = await openRoot(options, log, opened);
  const ground: Ground = { ...root, ...createSenders({ options, ...root }), options, log, opened };
  const late: Late = {};
  const { identity, identityListener, planeListener, servePlane } = await openFirstListeners(ground, stopGraceMs);
  const network = await openEngine(ground, late);
  const plugins = await recoverPlugins(ground, late);
  const addresses = { identity: identityListener?.address, observability: planeListener?.local };
  const running = makeController(ground, late, { plugins, network, listeners: addresses });
  const inside = createInside((actor, by) => app.as(actor, by));
  const databases = createDatabaseRoom(ground, { engine: network.engine, ask: inside.as });
  const { backups, restores, drills, rehearsals } = createBackupRoom(ground, { ...running, network, wal: databases });
  Object.assign(late, { backups, ask: inside.as });
  const rooms = await openRooms(ground, late, {
    ...{ running, plugins, identity, backups, databases, drills, restores },
    ...{ engine: network.engine, ask: inside.as },
    addresses: () => addresses,
  });
  const made = { running, identity, rooms, backups, databases, restores, drills, rehearsals };
  const app = orchestrationApp(ground, made);
  const runs = await opened.step(
    "listen for runs of plugins",
    () => runDoorOf({ running, names: ground.names, app, log }),
    (it) => it.stop(0),
  );
  late.runs = runs;
  const front = await serve(ground, { running, app });
  servePlane({
    observability: rooms.observability.observability,
    mountOthers: (plane) => mountForTokens(inside.through(plane), ground, made),
  });
  openDoors(ground, late, { running, engine: network.engine, app, rooms });

  const stopping = new AbortController();
  const recording = new AbortController();
  const controlling = running.run(stopping.signal);
  const working = Promise.all([
    controlling,
    ...[identity, network, rooms.certificates, rooms.ingress, backups, databases, restores, drills].map((part) =>
      part.run(stopping.signal),
    ),
    ...[late.callbacks, late.telemetry].map((door) => door?.run(stopping.signal)),
    rooms.observability.run(recording.signal),
  ]);

  return {
    addresses: {
      orchestration: front.addresses,
      identity: identityListener === undefined ? [] : [identityListener.address],
      observability: planeListener?.addresses ?? [],
    },
    async stop() {
      let hung: Timer | undefined;
      try {
        // What changes apps is answered before nothing carries it out any more.
        const closed = Promise.all([front, runs, inside].map((one) => one.stop(stopGraceMs)));
        rooms.observability.observability.streams.shut();
        await closed;
        stopping.abort();
        // An engine that hangs is not waited for: what is under way in it is taken up by the next server.
        hung = setTimeout(() => network.engine.close(), stopGraceMs);
        // A container that is being removed hands over its last lines.
        await controlling.finally(() => recording.abort());
        await working;
        await planeListener?.stop(stopGraceMs);
      } finally {
        clearTimeout(hung);
        // The listener of the identity service is closed here, when only its store is still open.
        await opened.close();
      }
    },
  };
}

interface Made {
  running: ReturnType<typeof makeController>;
  identity: Awaited<ReturnType<typeof openFirstListeners>>["identity"];
  rooms: Awaited<ReturnType<typeof openRooms>>;
  backups: Backups;
  restores: Restores;
  drills: Drills;
  rehearsals: ReturnType<typeof createBackupRoom>["rehearsals"];
  databases: ReturnType<typeof createDatabaseRoom>;
  app: ReturnType<typeof orchestrationApp>;
  engine: Awaited<ReturnType<typeof openEngine>>["engine"];
}

/** The orchestration plane with what other services mount on it. */
function orchestrationApp({ names, log, store }: Ground, made: Services): ReturnType<typeof createOrchestrationApp> {
  return createOrchestrationApp({
    controller: made.running.controller,
    mountOthers(plane) {
      mountServices(plane, plane, made);
      mountObservability(plane, made.rooms.observability.observability);
    },
    version: versionText(),
    once: createOnce({ store, clock: systemClock, log, limits }),
    names,
    log,
    limits,
  });
}

type Services = Omit<Made, "app" | "engine">;

/** The same services for tokens: the plane serves what its list has. */
function mountForTokens(plane: Plane, { names }: Ground, made: Services): void {
  mountOrchestration(plane, { controller: made.running.controller, version: versionText(), names, limits });
  mountServices(plane, planeOfInstances(plane, made.rooms.observability.observability.identity), made);
}

/** What operators and tokens may both have. `instances`: the plane as the identity service mounts its endpoints on it. */
function mountServices(
  plane: Plane,
  instances: Plane,
  { identity, rooms, backups, databases, ...others }: Services,
): void {
  mountIdentity(instances, identity.identity.manage, { pageMax: limits.eventsPageMax });
  mountIngress(plane, { certificates: createCertificateViews(rooms.certificates), views: rooms.ingress.views });
  mountSources(plane, rooms.sources);
  mountBackups(plane, backups, { ...others, repairs: backups.repairs });
  mountDatabases(plane, databases);
}

/** The listeners of the orchestration plane, once what runs was looked at: health checks of a proxy come at once. */
async function serve({ options, layout, names, log, opened }: Ground, { running, app }: Pick<Made, "running" | "app">) {
  const access = await opened.step("open the root to operators", () => openPlane(options, layout, names));
  await opened.step("look at what runs", () => running.firstLook(limits.firstLookMs));
  const contractClient = { prefix: names.prefix, log, limits: { ...limits, ...contractClientLimits } };
  return opened.step(
    "listen for the orchestration plane",
    () =>
      startFront({
        ...access,
        app: withContractClient(app.fetch, contractClient),
        takeover: app.takeover,
        limits,
        log,
      }),
    (it) => it.stop(0),
  );
}

/** What containers reach on the platform's network. */
function openDoors(
  { options, names, log }: Ground,
  late: Late,
  { running, engine, app, rooms }: Pick<Made, "running" | "engine" | "app" | "rooms">,
): void {
  late.callbacks = callbackDoor({ options, running, engine, names, plane: app.behind, log });
  const { observability } = rooms.observability;
  late.telemetry = telemetryDoor({ options, engine, names, running, observability, log });
}
