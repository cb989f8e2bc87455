import { createDockerEngine } from "../orchestration/engine/docker/docker.ts";
import type { Ground, Late } from "./ground.ts";
import { dockerOf } from "./logs.ts";
import { createNetworkRoom } from "./network.ts";

/** The engine, and what looks after its network on this machine. A container that is removed hands over its last lines. */
export async function openEngine(ground: Ground, late: Late): Promise<ReturnType<typeof createNetworkRoom>> {
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
  return network;
}
