import { Failure } from "../../api/failure.ts";
import { type Owner, ownLabels } from "../ownership.ts";
import type { Runtime } from "../runtime.ts";
import type { Engine } from "./engine.ts";
import { unlessStatus } from "./errors.ts";
import { isObjectName } from "./wire.ts";

type Networks = Pick<Runtime, "ensureNetwork" | "removeNetwork">;

export function createNetworks(engine: Engine, owner: Owner): Networks {
  const labels = ownLabels(owner);
  const { installation } = owner.names.label;

  return {
    ensureNetwork: async (name) => {
      if ((await labelsOf(engine, name)) !== undefined) return;
      const network = { Name: name, Driver: "bridge", CheckDuplicate: true, Labels: labels };
      await engine.call({ verb: "create", subject: subject(name) }, async (docker, abortSignal) => {
        // 409: somebody was faster.
        await docker.createNetwork({ ...network, abortSignal }).catch(unlessStatus(409));
      });
    },

    removeNetwork: async (name) => {
      const existing = await labelsOf(engine, name);
      if (existing === undefined) return;
      if (existing[installation] !== owner.installationId) {
        throw new Failure("conflict", `${subject(name)} was not made by this installation; remove it by hand`);
      }
      await engine.call({ verb: "remove", subject: subject(name) }, async (docker, abortSignal) => {
        await docker.getNetwork(name).remove({ abortSignal }).catch(unlessStatus(404));
      });
    },
  };
}

const subject = (name: string) => `network "${name}"`;

async function labelsOf(engine: Engine, name: string): Promise<Record<string, string> | undefined> {
  if (!isObjectName(name)) return undefined;
  return engine.call({ verb: "inspect", subject: subject(name) }, async (docker) => {
    // dockerode takes no signal here; the deadline alone ends a call that hangs.
    const network = await docker.getNetwork(name).inspect().catch(unlessStatus(404));
    // The engine also takes the beginning of an id.
    return network?.Name === name ? (network.Labels ?? {}) : undefined;
  });
}
