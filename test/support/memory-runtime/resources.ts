import { Failure } from "../../../src/base/wire/failure.ts";
import { foreignLabel, type Owner, ownLabels } from "../../../src/orchestration/engine/ownership.ts";
import type { Volume } from "../../../src/orchestration/engine/machine.ts";

/** Networks and volumes by name. */
export interface Resources {
  hasNetwork(name: string): boolean;
  ensureNetwork(name: string): void;
  removeNetwork(name: string, inUse: boolean): void;
  makeClosedNetwork(name: string, labels: Record<string, string>): void;
  networksWith(labels: Record<string, string>): string[];
  ensureVolume(name: string, labels: Record<string, string>): { created: boolean };
  /** What the engine does by itself for a mount of a volume that is not there. */
  mountVolume(name: string): void;
  addVolume(name: string, labels: Record<string, string>): void;
  listVolumes(labels: Record<string, string>): Volume[];
  findVolume(name: string): Volume | undefined;
  removeVolume(name: string, inUse: boolean): void;
}

export function createResources(owner: Owner): Resources {
  const networks = new Set<string>(["bridge"]);
  const closed = new Map<string, Record<string, string>>();
  const volumes = new Map<string, Volume>();

  return {
    hasNetwork: (name) => networks.has(name),
    ensureNetwork: (name) => void networks.add(name),
    removeNetwork: (name, inUse) => {
      if (inUse && networks.has(name)) throw new Failure("conflict", `cannot remove network "${name}": it is in use`);
      networks.delete(name);
      closed.delete(name);
    },
    makeClosedNetwork: (name, labels) => {
      if (networks.has(name)) throw new Failure("conflict", `cannot create network "${name}": it exists already`);
      networks.add(name);
      closed.set(name, labels);
    },
    networksWith: (labels) =>
      [...closed].flatMap(([name, has]) =>
        Object.entries(labels).every(([key, value]) => has[key] === value) ? [name] : [],
      ),
    ensureVolume: (name, labels) => {
      const wanted = { ...labels, ...ownLabels(owner) };
      const existing = volumes.get(name);
      if (existing === undefined) {
        volumes.set(name, { name, labels: wanted });
        return { created: true };
      }
      const foreign = foreignLabel(owner, existing.labels, wanted);
      if (foreign === undefined) return { created: false };
      const message = `volume "${name}" belongs to another owner (${foreign}); remove or rename it`;
      throw new Failure("conflict", message, { reason: "VolumeForeign" });
    },
    mountVolume: (name) => {
      if (!volumes.has(name)) volumes.set(name, { name, labels: {} });
    },
    addVolume: (name, labels) => void volumes.set(name, { name, labels }),
    listVolumes: (labels) => [...volumes.values()].filter((volume) => carriesAll(volume.labels, labels)),
    findVolume: (name) => volumes.get(name),
    removeVolume: (name, inUse) => {
      if (inUse && volumes.has(name)) throw new Failure("conflict", `cannot remove volume "${name}": it is in use`);
      volumes.delete(name);
    },
  };
}

function carriesAll(labels: Record<string, string>, wanted: Record<string, string>): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
