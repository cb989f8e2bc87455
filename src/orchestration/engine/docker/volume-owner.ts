import type { ContainerSpec, Mount, VolumeOwner } from "../../core/workload.ts";
import type { Owner } from "../ownership.ts";
import type { Engine } from "../engine.ts";
import { podRef } from "../identity.ts";
import type { DockerClient } from "./client.ts";
import { unlessStatus } from "./errors.ts";
import { folderArchive, folderIn } from "./file-owner.ts";
import { ownLabels } from "../ownership.ts";

interface OwnedMount extends Mount {
  owner: VolumeOwner;
}

/** Where the volume is seen without the copy that the image's folder makes of itself, and without other mounts in it. */
const place = "/volume-owner";

/**
 * Gives the root folders of empty volumes the owner that a container asks for. A container that is never started mounts
 * the volume, and the engine's archives read and write the folder: the image needs no program for it. It mounts the
 * volume at the path of the app too, so that Docker first copies what the image has there.
 */
export function createVolumeOwners(
  engine: DockerClient,
  owner: Owner,
  files: Pick<Engine, "readFiles">,
): (spec: ContainerSpec) => Promise<void> {
  const { names, installationId } = owner;
  const name = `${names.prefix}-volume-owner-${installationId}`;
  /** One after the other: a volume that another replica has begun to write to is seen as it is then. */
  let last: Promise<void> = Promise.resolve();

  const remove = () =>
    engine.call({ verb: "remove", subject: `container "${name}"` }, (docker, abortSignal) =>
      docker.getContainer(name).remove({ force: true, v: true, abortSignal }).catch(unlessStatus(404)),
    );

  async function own({ image, options }: ContainerSpec, mount: OwnedMount): Promise<void> {
    const { source, target } = mount;
    const attempt = { verb: "set the owner of", subject: `volume "${source}"` };
    const seen = { Type: "volume", Source: source } as const;
    // One that a killed server left behind.
    await remove();
    await engine.call(attempt, (docker, abortSignal) =>
      docker.createContainer({
        _query: { name },
        _body: {
          Image: image,
          // Never started; an image without a command of its own cannot be made a container of otherwise.
          Cmd: ["-"],
          Labels: { ...ownLabels(owner), [names.label.role]: "volume-owner" },
          HostConfig: {
            NetworkMode: "none",
            SecurityOpt: options.securityOpt,
            Mounts: [
              { ...seen, Target: target },
              { ...seen, Target: place, VolumeOptions: { NoCopy: true } },
            ],
          },
        },
        abortSignal,
      } as never),
    );
    try {
      const folder = await folderIn(files.readFiles(podRef(name), place, engine.held));
      if (folder === undefined || !folder.isEmpty) return;
      const wanted = { uid: mount.owner.uid, gid: mount.owner.gid ?? folder.gid, mode: folder.mode };
      if (wanted.uid === folder.uid && wanted.gid === folder.gid) return;
      await engine.call(attempt, (docker, abortSignal) =>
        docker
          .getContainer(name)
          .putArchive(folderArchive(place.slice(1), wanted), { path: "/", abortSignal } as never),
      );
    } finally {
      await remove();
    }
  }

  return async (spec) => {
    for (const mount of spec.mounts.filter(isOwned)) {
      const turn = last.then(() => own(spec, mount));
      last = turn.catch(() => undefined);
      await turn;
    }
  };
}

function isOwned(mount: Mount): mount is OwnedMount {
  return mount.type === "volume" && mount.owner !== undefined;
}
