import type Dockerode from "dockerode";
import { isSubnet } from "../../../base/pure/route-table.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { type Owner, ownLabels } from "../ownership.ts";
import type { Engine } from "../engine.ts";
import { createShare } from "../share.ts";
import type { DockerClient } from "./client.ts";
import { unlessStatus } from "./errors.ts";
import { isObjectName, labelFilter } from "./formats.ts";
import { inspectAt } from "./open-stream.ts";

type Labels = Record<string, string>;
type Networks = Pick<
  Engine,
  "ensureNetwork" | "networkGateway" | "networkSubnets" | "hasNetwork" | "makeClosedNetwork" | "removeNetworks"
>;

export function createNetworks(engine: DockerClient, owner: Owner): Networks {
  const share = createShare<void>();
  // Several listeners look after the network at the same moment.
  const shareLook = createShare<Awaited<ReturnType<typeof inspect>>>();
  const look = (name: string) => shareLook(name, () => inspect(engine, name));
  const { installation } = owner.names.label;

  const isOurs = (labels: Labels) => labels[installation] === owner.installationId;

  return {
    ensureNetwork: (name) =>
      share(name, async () => {
        const labels = await labelsOf(engine, name).catch((error: unknown) => {
          if (!isAmbiguous(error)) throw error;
          return keepOne(engine, name, isOurs);
        });
        if (labels !== undefined) return;
        if (await makeOne(engine, name, ownLabels(owner))) await keepOne(engine, name, isOurs);
      }),

    makeClosedNetwork: (name, labels) =>
      engine.call({ verb: "create", subject: subject(name) }, async (docker, abortSignal) => {
        const network = {
          Name: name,
          Driver: "bridge",
          CheckDuplicate: true,
          Labels: { ...labels, ...ownLabels(owner) },
        };
        await docker.createNetwork({ ...network, ...closed, abortSignal });
      }),

    removeNetworks: (labels) =>
      engine.call({ verb: "remove", subject: "networks" }, async (docker, abortSignal) => {
        const filters = labelFilter({ ...labels, [installation]: owner.installationId });
        for (const { Id } of await docker.listNetworks({ filters, abortSignal })) {
          await docker.getNetwork(Id).remove({ abortSignal }).catch(unlessStatus(404));
        }
      }),

    hasNetwork: async (name) => (await inspect(engine, name)) !== undefined,

    networkGateway: async (name) => {
      const network = await look(name);
      const gateways = (network?.IPAM?.Config ?? []).map(({ Gateway }) => Gateway);
      return gateways.find((address) => address !== undefined && /^\d+(\.\d+){3}$/.test(address));
    },

    networkSubnets: async (name) => {
      const network = await look(name);
      const subnets = (network?.IPAM?.Config ?? []).map(({ Subnet }) => Subnet);
      return subnets.filter((subnet) => subnet !== undefined).filter(isSubnet);
    },
  };
}

/**
 * Without an address of this machine in the network, what listens on every address of it is out of reach, too. The gateway
 * that the engine then names to its containers is an address which nothing has.
 */
const closed = {
  Internal: true,
  EnableIPv6: false,
  Options: { "com.docker.network.bridge.inhibit_ipv4": "true" },
};

const subject = (name: string) => `network "${name}"`;

/** False where somebody was faster. */
async function makeOne(engine: DockerClient, name: string, labels: Labels): Promise<boolean> {
  return engine.call({ verb: "create", subject: subject(name) }, async (docker, abortSignal) => {
    const network = { Name: name, Driver: "bridge", CheckDuplicate: true, Labels: labels };
    const made = await docker.createNetwork({ ...network, abortSignal }).catch(unlessStatus(409));
    return made !== undefined;
  });
}

/** Two networks have the name: the create of a server that was killed arrived after all. */
function isAmbiguous(error: unknown): boolean {
  return error instanceof Failure && /network \S+ is ambiguous/.test(error.message);
}

/**
 * The engine may make two networks of one name when asked twice at once, and then starts nothing in either. Removes
 * those of ours until the name is clear: the one that containers are on stays, else the oldest. All who race agree, and
 * the last one to look sees all, for a network that is older may show itself later.
 */
async function keepOne(
  engine: DockerClient,
  name: string,
  isOurs: (labels: Labels) => boolean,
): Promise<Labels | undefined> {
  return engine.call({ verb: "clear", subject: subject(name) }, async (docker, abortSignal) => {
    // The filter also finds names that contain it.
    const listed = await docker.listNetworks({ filters: { name: [name] }, abortSignal });
    const same = listed.filter(({ Name }) => Name === name);
    if (same.length === 1) return same[0]?.Labels ?? {};
    // Only a request for each single network says who is on it.
    const looks = same.map(({ Id }) => details(docker, Id, abortSignal).catch(unlessStatus(404)));
    const twins = (await Promise.all(looks)).filter((twin) => twin !== undefined);
    const isUsed = (twin: { Containers?: object }) => Object.keys(twin.Containers ?? {}).length > 0;
    const [kept, ...others] = twins.sort(
      (a, b) => Number(isUsed(b)) - Number(isUsed(a)) || compare(a.Created, b.Created) || compare(a.Id, b.Id),
    );
    for (const twin of others) {
      if (isUsed(twin) || !isOurs(twin.Labels ?? {})) continue;
      await docker.getNetwork(twin.Id).remove({ abortSignal }).catch(unlessStatus(404));
    }
    return kept?.Labels ?? {};
  });
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));

async function labelsOf(engine: DockerClient, name: string): Promise<Labels | undefined> {
  const network = await inspect(engine, name);
  return network && (network.Labels ?? {});
}

async function inspect(engine: DockerClient, name: string) {
  if (!isObjectName(name)) return undefined;
  return engine.call({ verb: "inspect", subject: subject(name) }, async (docker, abortSignal) => {
    const network = await details(docker, name, abortSignal).catch(unlessStatus(404));
    // The engine also takes the beginning of an id.
    return network?.Name === name ? network : undefined;
  });
}

const details = (docker: Dockerode, nameOrId: string, signal: AbortSignal) =>
  inspectAt<Dockerode.NetworkInspectInfo>(docker, `/networks/${nameOrId}`, signal);
