import { Failure } from "../../../base/wire/failure.ts";
import { foreignLabel, type Owner, ownLabels } from "../ownership.ts";
import type { Volume } from "../machine.ts";
import type { Engine } from "../engine.ts";
import type { DockerClient } from "./client.ts";
import { containerRow } from "./container-detail.ts";
import { missing, unlessStatus } from "./errors.ts";
import { isObjectName, labelFilter } from "./formats.ts";

type Volumes = Pick<Engine, "ensureVolume" | "listVolumes" | "inspectVolume" | "volumeUsers" | "removeVolume">;

export function createVolumes(engine: DockerClient, owner: Owner): Volumes {
  return {
    ensureVolume: async (name, labels) => {
      const wanted = { ...labels, ...ownLabels(owner) };
      const existing = await inspect(engine, name);
      if (existing === undefined) {
        // The engine silently keeps the volume of the faster caller: its labels show whose it is.
        refuseForeign(owner, await create(engine, name, wanted), wanted);
        return { created: true };
      }
      refuseForeign(owner, existing, wanted);
      return { created: false };
    },

    listVolumes: async (labels) => {
      const filters = labelFilter(labels);
      const { Volumes: rows } = await engine.call({ verb: "list", subject: "volumes" }, (docker, abortSignal) =>
        docker.listVolumes({ filters, abortSignal }),
      );
      return (rows ?? []).map(volumeOf);
    },

    inspectVolume: (name) => inspect(engine, name),

    volumeUsers: async (name) => {
      if (!isObjectName(name)) return [];
      const rows = await engine.call({ verb: "list", subject: "containers" }, (docker, abortSignal) =>
        docker.listContainers({ all: true, filters: { volume: [name] }, abortSignal }),
      );
      return rows.map((row) => containerRow(row, owner.names));
    },

    removeVolume: async (name) => {
      if (!isObjectName(name)) return;
      await engine.call({ verb: "remove", subject: subject(name) }, async (docker, abortSignal) => {
        await docker.getVolume(name).remove({ abortSignal }).catch(unlessStatus(404));
      });
    },
  };
}

const subject = (name: string) => `volume "${name}"`;

interface VolumeRow {
  Name: string;
  Labels: Record<string, string> | null;
  Driver: string;
  Mountpoint: string;
  Options: Record<string, string> | null;
}

function volumeOf({ Name, Labels, Driver, Mountpoint, Options }: VolumeRow): Volume {
  const isPlain = Driver === "local" && Object.keys(Options ?? {}).length === 0;
  return { name: Name, labels: Labels ?? {}, mountpoint: isPlain && Mountpoint !== "" ? Mountpoint : undefined };
}

function refuseForeign(owner: Owner, volume: Volume, wanted: Record<string, string>): void {
  const foreign = foreignLabel(owner, volume.labels, wanted);
  if (foreign === undefined) return;
  const message = `${subject(volume.name)} belongs to another owner (${foreign}); remove or rename it`;
  throw new Failure("conflict", message, { reason: "VolumeForeign" });
}

async function inspect(engine: DockerClient, name: string): Promise<Volume | undefined> {
  if (!isObjectName(name)) return undefined;
  return engine.call({ verb: "inspect", subject: subject(name) }, async (docker, abortSignal) => {
    const info = await docker.getVolume(name).inspect({ abortSignal }).catch(unlessStatus(404));
    return info === undefined ? undefined : volumeOf(info);
  });
}

async function create(engine: DockerClient, name: string, labels: Record<string, string>): Promise<Volume> {
  await engine.call({ verb: "create", subject: subject(name) }, (docker, abortSignal) =>
    docker.createVolume({ Name: name, Labels: labels, abortSignal }),
  );
  const made = await inspect(engine, name);
  if (made === undefined) throw missing(subject(name));
  return made;
}
