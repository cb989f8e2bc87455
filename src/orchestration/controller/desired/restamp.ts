import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey, type StoredManifest } from "../../api/manifest.ts";
import { type AssetLookup, type AssetUse, assetRefs, stampAssetDigests } from "../../core/assets.ts";
import { containerOf } from "../../core/spec/decode.ts";
import type { PutResult, Transaction } from "../../store/store.ts";

interface Restamp {
  /** The assets whose files may have moved. */
  assets: readonly ManifestKey[];
  /** `formatKey` of manifests that are left alone. */
  except: ReadonlySet<string>;
  lookup: AssetLookup;
  now: number;
  actor: string;
}

/** Writes the new digests of the assets' files into the manifests that read them, so that they roll. Returns those that changed. */
export function restampReaders(tx: Transaction, restamp: Restamp): PutResult[] {
  const readers = new Map<string, ManifestKey>();
  for (const { scope, name } of restamp.assets) {
    for (const key of tx.manifests.dependants(`asset/${scope}/${name}`)) {
      if (!restamp.except.has(formatKey(key))) readers.set(formatKey(key), key);
    }
  }
  return [...readers.values()].flatMap((key) => {
    const stored = tx.manifests.get(key);
    return stored === undefined ? [] : restampOne(tx, stored, restamp);
  });
}

function restampOne(tx: Transaction, stored: StoredManifest, { assets, lookup, now, actor }: Restamp): PutResult[] {
  const missing = assetRefs(stored).filter(({ candidates }) => candidates.every((at) => lookup(at) === undefined));
  const lost = missing.find(({ candidates }) => candidates.some((at) => assets.some((asset) => isFileOf(asset, at))));
  if (lost !== undefined) throw takenAway(stored, lost);
  const { spec } = stampAssetDigests(stored, keeping(lookup, stored, missing));
  const { kind, scope, name } = stored;
  const result = tx.manifests.put({ kind, scope, name, spec }, now);
  if (result.outcome === "unchanged") return [];
  tx.events.append({ actor, action: "asset.changed", kind, scope, name, revision: result.manifest.revision }, now);
  return [result];
}

function isFileOf(asset: ManifestKey, at: { scope: string; name: string }): boolean {
  return asset.scope === at.scope && asset.name === at.name;
}

function takenAway(reader: StoredManifest, { path, ref }: AssetUse): Failure {
  const text = `${formatKey(reader)} reads "${ref}" in ${path}, which this takes away; change the reader first or with it`;
  return new Failure("invalid", text);
}

/** What was deleted on its own before keeps the digest that its reader runs with. */
function keeping(lookup: AssetLookup, reader: StoredManifest, missing: readonly AssetUse[]): AssetLookup {
  const stamped = containerOf(reader.kind, reader.spec)?.container.assetDigests ?? {};
  const kept = new Map(
    missing.flatMap(({ ref, candidates: [first] }) =>
      first === undefined ? [] : [[`${first.scope}/${first.name}/${first.key}`, stamped[ref] ?? null]],
    ),
  );
  return (target) => lookup(target) ?? kept.get(`${target.scope}/${target.name}/${target.key}`);
}
