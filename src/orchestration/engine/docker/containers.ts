import { Failure } from "../../../base/wire/failure.ts";
import type { Naming } from "../../core/naming.ts";
import type { ContainerSpec } from "../../core/workload.ts";
import { containerLabels, type Owner, selectorLabels } from "../ownership.ts";
import { podRef } from "../identity.ts";
import type { InspectedPod, ObservedPod } from "../pod.ts";
import type { Engine } from "../engine.ts";
import { containerDetail, containerRow } from "./container-detail.ts";
import { createRequest, endpointSettings, wholeSeconds } from "./create-options.ts";
import type { DockerClient } from "./client.ts";
import { missing, statusOf, unlessStatus } from "./errors.ts";
import { withPortHolder } from "./port-holder.ts";
import { isObjectName, labelFilter } from "./formats.ts";

type Containers = Pick<
  Engine,
  | "observe"
  | "inspect"
  | "create"
  | "start"
  | "stop"
  | "pause"
  | "unpause"
  | "remove"
  | "removeUnlessRunning"
  | "rename"
>;

/** Any container by name or id, ours or not; undefined when missing. */
export type Inspect = (nameOrId: string) => Promise<InspectedPod | undefined>;

/** `stopSlackMs`: how long the engine may take beyond the grace that a container is given. `ownVolumes`: see `volume-owner.ts`. */
export function createContainers(
  engine: DockerClient,
  owner: Owner,
  {
    inspect,
    stopSlackMs,
    ownVolumes,
    beforeRemoval,
  }: {
    inspect: Inspect;
    stopSlackMs: number;
    ownVolumes: (spec: ContainerSpec) => Promise<void>;
    beforeRemoval: (id: string) => Promise<void>;
  },
): Containers {
  return {
    observe: (filter = {}) => list(engine, owner, filter),
    inspect: ({ id }) => inspect(id),
    async create(spec) {
      await ownVolumes(spec);
      return podRef(await create(engine, owner, spec));
    },
    start: ({ id }) => start(engine, id),
    stop: ({ id }, { graceMs }) => stop(engine, id, { graceMs, slackMs: stopSlackMs }),
    async pause({ id }) {
      // 409: it does not run, or is paused already.
      await engine.call({ verb: "pause", subject: known(id) }, (docker, abortSignal) =>
        docker.getContainer(id).pause({ abortSignal }).catch(unlessStatus(404, 409)),
      );
      return (await inspect(id))?.state === "paused";
    },
    async unpause({ id }) {
      // The status of "is not paused" is 409 or 500, by version.
      if ((await inspect(id))?.state !== "paused") return;
      await engine.call({ verb: "unpause", subject: subject(id) }, (docker, abortSignal) =>
        docker.getContainer(id).unpause({ abortSignal }).catch(unlessStatus(404, 409)),
      );
    },
    async remove({ id }) {
      await beforeRemoval(id);
      await remove(engine, id, { force: true });
    },
    async removeUnlessRunning({ id }) {
      await beforeRemoval(id);
      return remove(engine, id, { force: false });
    },
    rename: async ({ id }, name) => {
      await engine.call({ verb: "rename", subject: known(id) }, (docker, abortSignal) =>
        docker.getContainer(id).rename({ name, abortSignal }),
      );
    },
  };
}

/** An id as `docker ps` shows it: twelve digits are enough to find the container. */
const subject = (nameOrId: string) => `container "${nameOrId.replace(/^([0-9a-f]{12})[0-9a-f]{52}$/, "$1")}"`;

function known(nameOrId: string): string {
  if (!isObjectName(nameOrId)) throw missing(subject(nameOrId));
  return subject(nameOrId);
}

async function list(
  engine: DockerClient,
  owner: Owner,
  filter: Parameters<typeof selectorLabels>[1],
): Promise<ObservedPod[]> {
  const filters = labelFilter(selectorLabels(owner, filter));
  const rows = await engine.call({ verb: "list", subject: "containers" }, (docker, abortSignal) =>
    docker.listContainers({ all: true, filters, abortSignal }),
  );
  return rows.map((row) => containerRow(row, owner.names));
}

/** See `Inspect`. */
export async function inspectContainer(engine: DockerClient, names: Naming, nameOrId: string) {
  if (!isObjectName(nameOrId)) return undefined;
  const info = await engine.call({ verb: "inspect", subject: subject(nameOrId) }, (docker, abortSignal) =>
    docker.getContainer(nameOrId).inspect({ abortSignal }).catch(unlessStatus(404)),
  );
  // The engine also takes the beginning of an id: a short name would find a stranger.
  const meant = info?.Id === nameOrId || info?.Name === `/${nameOrId}`;
  return info !== undefined && meant ? containerDetail(info, names) : undefined;
}

async function create(engine: DockerClient, owner: Owner, spec: ContainerSpec): Promise<string> {
  const request = createRequest(spec, containerLabels(owner, spec));
  const { id } = await engine.call({ verb: "create", subject: subject(spec.name) }, (docker, abortSignal) =>
    docker.createContainer({ ...request, abortSignal }),
  );
  await joinOtherNetworks(engine, spec, id);
  return id;
}

async function joinOtherNetworks(engine: DockerClient, spec: ContainerSpec, id: string): Promise<void> {
  if (spec.networkMode !== "bridge") return;
  try {
    for (const network of spec.networks.slice(1)) await join(engine, spec, { network, id });
  } catch (error) {
    // A container that reaches only half of its networks must not stay. The first error is the one to tell.
    await remove(engine, id, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function join(
  engine: DockerClient,
  spec: ContainerSpec,
  { network, id }: { network: ContainerSpec["networks"][number]; id: string },
): Promise<void> {
  if (!isObjectName(network.name)) {
    const message = `cannot create ${subject(spec.name)}: network "${network.name}" does not exist`;
    throw new Failure("conflict", message, { reason: "StartFailed" });
  }
  await engine.call({ verb: "create", subject: subject(spec.name) }, (docker, abortSignal) => {
    const request = { Container: id, EndpointConfig: endpointSettings(network), abortSignal };
    return docker.getNetwork(network.name).connect(request);
  });
}

async function start(engine: DockerClient, nameOrId: string): Promise<void> {
  const attempt = { verb: "start", subject: known(nameOrId) };
  try {
    // 304: it runs already.
    await engine.call(attempt, (docker, abortSignal) =>
      docker.getContainer(nameOrId).start({ abortSignal }).catch(unlessStatus(304)),
    );
  } catch (error) {
    throw await withPortHolder(engine, error);
  }
}

async function stop(
  engine: DockerClient,
  nameOrId: string,
  { graceMs, slackMs }: { graceMs: number; slackMs: number },
): Promise<void> {
  const t = wholeSeconds(graceMs);
  // 304: it is stopped already.
  await engine.call(
    { verb: "stop", subject: known(nameOrId) },
    (docker, abortSignal) => docker.getContainer(nameOrId).stop({ t, abortSignal }).catch(unlessStatus(304)),
    t * 1000 + slackMs,
  );
}

/** False where the engine refuses, for it runs. */
async function remove(engine: DockerClient, nameOrId: string, { force }: { force: boolean }): Promise<boolean> {
  if (!isObjectName(nameOrId)) return true;
  return engine.call({ verb: "remove", subject: subject(nameOrId) }, async (docker, abortSignal) => {
    const container = docker.getContainer(nameOrId);
    try {
      await container.remove({ force, v: true, abortSignal });
    } catch (error) {
      unlessStatus(404, 409)(error);
      if (statusOf(error) === 404) return true;
      const left = force ? undefined : await container.inspect({ abortSignal }).catch(unlessStatus(404));
      if (left !== undefined && left.State.Status !== "removing") return false;
      // Somebody else removes it already. It is gone when that is done.
      await container.wait({ condition: "removed", abortSignal }).catch(unlessStatus(404));
    }
    return true;
  });
}
