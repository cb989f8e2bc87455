import { createDockerEngine } from "../orchestration/engine/docker/docker.ts";
import { naming } from "../orchestration/core/naming.ts";
import type { Engine } from "../orchestration/engine/engine.ts";
import type { ObservedPod } from "../orchestration/engine/pod.ts";
import type { Ground, Late } from "./ground.ts";
import { dockerOf } from "./logs.ts";
import { createNetworkRoom } from "./network.ts";

/**
 * The engine, and what looks after its network on this machine. A container that is removed hands over its last lines. For the
 * controller there is `steady`, to which containers that are paused for a copy, `stills`, are running ones: it neither takes
 * them out of the ingress nor reports them.
 */
export async function openEngine(ground: Ground, late: Late) {
  const { options, names, store, opened, log } = ground;
  const engine = await opened.step(
    "make the engine",
    () =>
      createDockerEngine({
        ...dockerOf(options, log),
        installationId: store.installationId,
        names,
        beforeRemoval: async (container) => late.observability?.observability.logs.drain(container),
      }),
    (it) => it.close(),
  );
  const network = createNetworkRoom({ ...ground, engine });
  await opened.step("close the way out for connections to containers", network.restore);
  const stills = new Set<string>();
  return { ...network, stills, steady: steadyEngine(network.engine, stills) };
}

/** The engine for a command that runs beside the server of an installation, or in its place. `close` it. */
export function engineFor({
  dockerHost,
  installation,
  prefix,
}: Record<"dockerHost" | "installation" | "prefix", string>): Engine {
  return createDockerEngine({ host: dockerHost, installationId: installation, names: naming(prefix) });
}

function steadyEngine(engine: Engine, stills: ReadonlySet<string>): Engine {
  const seen = <P extends ObservedPod>(pod: P): P =>
    pod.state === "paused" && stills.has(pod.id) ? { ...pod, state: "running" } : pod;
  return {
    ...engine,
    observe: async (filter) => (await engine.observe(filter)).map(seen),
    async inspect(pod) {
      const found = await engine.inspect(pod);
      return found && seen(found);
    },
    async *events(signal, onOpen) {
      for await (const event of engine.events(signal, onOpen)) {
        const isOfCopy = (event.action === "pause" || event.action === "unpause") && stills.has(event.id);
        if (!isOfCopy) yield event;
      }
    },
  };
}
