import { Failure } from "../../../base/wire/failure.ts";
import { type KeyText, keyText } from "../../api/manifest-key.ts";
import type { ManifestKey } from "../../api/manifest.ts";

/** Volumes whose data is being exchanged: until that has ended, no container that mounts one of them is made or started. */
export interface VolumeHolds {
  /** `keys`: the resources that mount it. Lasts until the returned function is called. */
  hold(volume: string, keys: readonly ManifestKey[]): () => void;
  /** The volume that a resource waits for; undefined where none is held. */
  of(key: ManifestKey): string | undefined;
  /** Fails `conflict` while the volume is held. */
  refuse(volume: string): void;
}

export function createVolumeHolds(): VolumeHolds {
  const holds = new Set<{ volume: string; keys: ReadonlySet<KeyText> }>();
  return {
    hold(volume, keys) {
      const entry = { volume, keys: new Set(keys.map(keyText)) };
      holds.add(entry);
      return () => void holds.delete(entry);
    },
    of: (key) => [...holds].find(({ keys }) => keys.has(keyText(key)))?.volume,
    refuse(volume) {
      if (![...holds].some((one) => one.volume === volume)) return;
      throw new Failure("conflict", `volume "${volume}" is being restored; try again when that has ended`);
    },
  };
}
