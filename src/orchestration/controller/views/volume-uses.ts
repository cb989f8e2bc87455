import type { VolumeUse } from "../../api/disk.ts";
import type { EngineDisk } from "../../engine/machine.ts";
import { engineVolumeName } from "../../core/named-volumes.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import type { Context } from "../state/context.ts";

/** Volumes of this installation with the app that they belong to. */
export async function volumeUses(context: Context, found: EngineDisk): Promise<VolumeUse[]> {
  const { store, names } = context;
  const owners = new Map<string, Pick<VolumeUse, "scope" | "name"> & { isStored: boolean; isKept: boolean }>();
  const isStored = (key: ManifestKey) => store.manifests.get(key) !== undefined;
  for (const { kind, scope, name, volume } of store.volumes.all())
    owners.set(volume, { scope, name, isStored: isStored({ kind, scope, name }), isKept: false });
  for (const use of store.namedVolumes.all()) {
    const { owner, volume, plain, scope, name } = use;
    const users = store.namedVolumes.users(owner, volume);
    const engineName = engineVolumeName({ owner, name: volume, external: false }, names, () => plain);
    const user = users.find(isStored);
    const shown = user ?? { scope, name };
    // What has a plain name in the engine may be of anybody.
    owners.set(engineName, { scope: shown.scope, name: shown.name, isStored: user !== undefined, isKept: plain });
  }
  const { label } = names;
  const sorted = found.volumes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.flatMap(({ name: volume, labels, bytes, users }) => {
    const isOurs = labels[label.installation] === store.installationId;
    const owner = owners.get(volume) ?? (isOurs ? fromLabels(context, labels) : undefined);
    if (owner === undefined) return [];
    const { scope, name } = owner;
    const state = stateOf({ ...owner, users: users ?? 0 });
    return [
      {
        ...{ volume, scope, name, state },
        ...(bytes === undefined ? {} : { bytes }),
        ...(state === "leftover" && name !== "" ? { remove: `${names.prefix} delete ${scope}/${name} --prune` } : {}),
      },
    ];
  });
}

function fromLabels({ names, store }: Context, labels: Record<string, string>) {
  const { [names.label.scope]: scope = "", [names.label.name]: name, [names.label.kind]: kind } = labels;
  if (name === undefined || kind === undefined) return { scope, name: "", isStored: false, isKept: true };
  return { scope, name, isStored: store.manifests.get({ kind, scope, name }) !== undefined, isKept: false };
}

function stateOf({
  users,
  isStored,
  isKept,
}: {
  users: number;
  isStored: boolean;
  isKept: boolean;
}): VolumeUse["state"] {
  if (users > 0) return "used";
  if (isStored) return "idle";
  return isKept ? "kept" : "leftover";
}
