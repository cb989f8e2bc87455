import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import { assetRefs } from "../../core/assets.ts";
import type { ManifestReads } from "../../store/store.ts";

/** What reads the assets among `gone` and stays: said at a delete, as what runs goes on and the next apply is refused. */
export function lostReaderWarnings(manifests: ManifestReads, gone: readonly ManifestKey[]): string[] {
  const leaving = new Set(gone.map(formatKey));
  return gone.flatMap(({ kind, scope, name }) => {
    if (kind !== "asset") return [];
    return manifests.dependants(`asset/${scope}/${name}`).flatMap((reader) => {
      const stored = leaving.has(formatKey(reader)) ? undefined : manifests.get(reader);
      const use = stored && assetRefs(stored).find(({ candidates }) => candidates.some(isOf({ scope, name })));
      return use === undefined ? [] : [lostText(formatKey({ kind, scope, name }), formatKey(reader), use)];
    });
  });
}

function isOf(asset: { scope: string; name: string }) {
  return (file: { scope: string; name: string }) => file.scope === asset.scope && file.name === asset.name;
}

function lostText(asset: string, reader: string, { path, ref }: { path: string; ref: string }): string {
  return (
    `${asset} is read by ${reader}, "${ref}" in ${path}: its containers keep the file, ` +
    "and no change of it can be applied until the asset is back or the reference is gone"
  );
}
