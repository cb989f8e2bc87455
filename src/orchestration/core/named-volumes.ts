import type { CoreKind, Spec } from "../api/manifest.ts";
import { isEngineVolumeName, type Naming, scopedVolumeName } from "./naming.ts";
import { containerOf } from "./spec/decode.ts";
import type { WrittenMount } from "./volumes.ts";
import type { NamedVolume } from "./workload.ts";

/** Whether the volume `name` of the scope `owner` has that very name in the engine. */
export type IsPlainVolume = (owner: string, name: string) => boolean;

/** A volume of a manifest; `path` is where it is written. */
interface VolumeUse extends NamedVolume {
  path: string;
}

/** Whose the volume of a mount is; undefined for what is not a volume. */
export function namedVolume(scope: string, { type, source, external = false }: WrittenMount): NamedVolume | undefined {
  if (type !== "volume") return undefined;
  const slash = source.indexOf("/");
  if (slash < 0) return { owner: scope, name: source, external };
  return { owner: source.slice(0, slash), name: source.slice(slash + 1), external };
}

/**
 * Whether a volume is the scope's alone to change: one of another scope, or one that is written by its name in the
 * engine, may have a user who relies on how it is.
 */
export function ownsVolume(scope: string, { owner, name, external }: NamedVolume, names: Naming): boolean {
  return !external && owner === scope && !isEngineVolumeName(names, name);
}

/** The volumes that a manifest names, each once. */
export function volumeUses(manifest: { kind: CoreKind; scope: string; spec: Spec }): VolumeUse[] {
  const found = containerOf(manifest.kind, manifest.spec);
  const uses = new Map<string, VolumeUse>();
  found?.container.volumes.forEach(({ read: mount }, index) => {
    const volume = mount.ok ? namedVolume(manifest.scope, mount.value) : undefined;
    if (volume === undefined) return;
    const { owner, name, external } = volume;
    const id = `${owner}/${name}/${external}`;
    if (!uses.has(id)) uses.set(id, { ...volume, path: `${found.path}.volumes[${index}]` });
  });
  return [...uses.values()];
}

/** What a volume that is made carries. `block`: the one whose plugin named it; see `refuseLeftVolumes`. */
export function namedVolumeLabels(
  { label }: Naming,
  { owner, name }: NamedVolume,
  block: string | undefined,
): Record<string, string> {
  const labels = { [label.scope]: owner, [label.volume]: name };
  return block === undefined ? labels : { ...labels, [label.block]: block };
}

/** The name that a volume has in the engine. */
export function engineVolumeName(volume: NamedVolume, names: Naming, isPlain: IsPlainVolume): string {
  const { owner, name, external } = volume;
  if (external || isEngineVolumeName(names, name) || isPlain(owner, name)) return name;
  return scopedVolumeName(names, owner, name);
}
