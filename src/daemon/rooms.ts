import type { createController } from "../orchestration/controller/create.ts";
import type { PluginRoom } from "../orchestration/controller/state/plugin-room.ts";
import { createHelper } from "../orchestration/engine/local-helper.ts";
import type { Engine } from "../orchestration/engine/engine.ts";
import type { RunningIdentity } from "../identity/service/create.ts";
import { createCertificateRoom } from "./certificates.ts";
import type { Backups } from "../backups/service/create.ts";
import type { Drills } from "../backups/service/drills.ts";
import type { Databases } from "../backups/service/databases.ts";
import type { Restores } from "../backups/service/restore.ts";
import type { Ground, Late } from "./ground.ts";
import { createIngressRoom } from "./ingress.ts";
import { createObservabilityRoom } from "./observability.ts";
import { podInside } from "./pods.ts";
import { routingPlugins } from "./plugin-routes.ts";
import { sourceReader } from "./sources.ts";

interface Given {
  running: ReturnType<typeof createController>;
  engine: Engine;
  plugins: PluginRoom;
  identity: RunningIdentity;
  backups: Backups;
  drills: Drills;
  databases: Pick<Databases, "failing">;
  restores: Pick<Restores, "failing">;
  /** The orchestration plane in process; it is made after these rooms. */
  ask: Parameters<typeof createObservabilityRoom>[0]["ask"];
  /** Where requests to the own services go, `host:port`; undefined for one that is turned off. */
  addresses: () => { identity: string | undefined; observability: string | undefined };
}

/** Certificates, sources, the observability plane and the ingress, around the controller. */
export async function openRooms(ground: Ground, late: Late, given: Given) {
  const { options, layout, names, store, gate, key, word, log, sendMail, sendWebhooks, opened } = ground;
  const { running, engine, plugins } = given;
  const { controller } = running;
  const { certificates, challenge } = createCertificateRoom({ store, controller, names, log, gate });
  const sources = sourceReader({ layout, options, controller });
  const observability = await opened.step(
    "open the observability plane",
    () =>
      createObservabilityRoom({
        ...{ layout, options, key, log, gate, installationId: store.installationId, engine, sendMail },
        apps: running.apps,
        measures: running.measures,
        taken: () => late.ingress?.takenFigures() ?? [],
        podLogs: (name, reading) => controller.podLogs(name, reading),
        inside: podInside(controller, engine),
        endpoints: () => running.endpoints.list(),
        sendWebhook: sendWebhooks({ allowPrivate: options.allowPrivateWebhooks }),
        ask: given.ask,
        failingCopies: () => [
          ...given.backups.failing(),
          ...given.drills.failing(),
          ...given.restores.failing(),
          ...given.databases.failing().map((one) => ({ what: "databases", ...one })),
        ],
        people: given.identity.identity.ownApp,
      }),
    (it) => it.close(),
  );
  late.observability = observability;
  const ingress = await createIngressRoom({
    ...{ step: opened.step, gate, options, ingressWord: word, layout, names, log, engine, store, certificates },
    helper: (program) => createHelper(engine, { names, installationId: store.installationId }, program),
    endpoints: running.endpoints,
    sleep: running.sleep,
    routers: routingPlugins(plugins.registry, controller),
    onPluginRoute: (route) => running.reconciler.enqueue(route),
    planeAddresses: () => {
      const { identity, observability: plane } = given.addresses();
      return { "@identity": identity, "@observability": plane };
    },
  });
  late.ingress = ingress;
  challenge.connect(ingress.ingress.challenges);
  return { certificates, sources, observability, ingress };
}
