import type { NetworkInspectInfo } from "dockerode";
import { Failure } from "../../api/failure.ts";
import { type Owner, ownLabels } from "../ownership.ts";
import type { Runtime } from "../runtime.ts";
import { createShare } from "../share.ts";
import type { Engine } from "./engine.ts";
import { unlessStatus } from "./errors.ts";
import { isObjectName } from "./wire.ts";

type Networks = Pick<Runtime, "ensureNetwork" | "removeNetwork">;

/**
 * The engine takes two networks of one name when they are asked for at the same time, and then refuses every container
 * that names it. So callers share one try, and what a server that was killed meanwhile left behind is tidied up.
 */
export function createNetworks(engine: Engine, owner: Owner): Networks {
  const labels = ownLabels(owner);
  const { installation } = owner.names.label;
  const share = createShare<void>();
  const isOurs = (network: NetworkInspectInfo) => network.Labels?.[installation] === owner.installationId;

  const ensure = async (name: string) => {
    const present = await networksNamed(engine, name);
    if (present.length > 1) return tidy(engine, present, isOurs);
    if (present.length === 1) return;
    const network = { Name: name, Driver: "bridge", CheckDuplicate: true, Labels: labels };
    await engine.call({ verb: "create", subject: subject(name) }, async (docker, abortSignal) => {
      // 409: somebody was faster.
      await docker.createNetwork({ ...network, abortSignal }).catch(unlessStatus(409));
    });
    const made = await networksNamed(engine, name);
    if (made.length > 1) await tidy(engine, made, isOurs);
  };

  return {
    ensureNetwork: (name) => share(name, () => ensure(name)),

    removeNetwork: async (name) => {
      for (const network of await networksNamed(engine, name)) {
        if (!isOurs(network)) {
          throw new Failure("conflict", `${subject(name)} was not made by this installation; remove it by hand`);
        }
        await removeById(engine, network);
      }
    },
  };
}

const subject = (name: string) => `network "${name}"`;

async function networksNamed(engine: Engine, name: string): Promise<NetworkInspectInfo[]> {
  if (!isObjectName(name)) return [];
  const filters = { name: [name] };
  return engine.call({ verb: "list", subject: subject(name) }, async (docker, abortSignal) => {
    const listed = await docker.listNetworks({ filters, abortSignal });
    // The engine's filter also takes a part of a name.
    return listed.filter((network) => network.Name === name);
  });
}

/** Leaves the one that containers are on, else the oldest, so that all who race keep the same; others' are left alone. */
async function tidy(
  engine: Engine,
  twins: readonly NetworkInspectInfo[],
  isOurs: (network: NetworkInspectInfo) => boolean,
): Promise<void> {
  const rows = await Promise.all(twins.map(async (network) => ({ network, used: await isUsed(engine, network) })));
  const [, ...surplus] = rows.toSorted(
    (a, b) =>
      Number(b.used) - Number(a.used) ||
      compare(a.network.Created, b.network.Created) ||
      compare(a.network.Id, b.network.Id),
  );
  for (const { network, used } of surplus) if (!used && isOurs(network)) await removeById(engine, network);
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));

async function isUsed(engine: Engine, { Id, Name }: NetworkInspectInfo): Promise<boolean> {
  return engine.call({ verb: "inspect", subject: subject(Name) }, async (docker) => {
    // dockerode takes no signal here; the deadline alone ends a call that hangs.
    const network: NetworkInspectInfo | undefined = await docker.getNetwork(Id).inspect().catch(unlessStatus(404));
    return Object.keys(network?.Containers ?? {}).length > 0;
  });
}

async function removeById(engine: Engine, { Id, Name }: NetworkInspectInfo): Promise<void> {
  await engine.call({ verb: "remove", subject: subject(Name) }, async (docker, abortSignal) => {
    await docker.getNetwork(Id).remove({ abortSignal }).catch(unlessStatus(404));
  });
}
