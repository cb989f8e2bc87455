import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey, type StoredManifest } from "../../api/manifest.ts";
import type { AssetFiles } from "../../store/look-records.ts";
import { assetStatus, type MaterialisedAsset, materialise, putAsset, storedLookup } from "../desired/assets.ts";
import type { Context } from "../state/context.ts";
import { rollReaders, watchReaders } from "../desired/references.ts";
import { putStatus } from "../rollout/save-status.ts";
import { releaseFor } from "../rollout/releases.ts";
import { restampReaders } from "../desired/restamp.ts";

/**
 * A round over one asset: every file must be in the store with the bytes its digest names. Inline files that went
 * missing or were edited by hand are written again; those from URLs are fetched again, also when the last fetch failed.
 * Readers of what came out differently roll. Fails `unavailable` while a fetch fails.
 */
export async function convergeAsset(context: Context, key: ManifestKey): Promise<void> {
  const manifest = context.store.manifests.get(key);
  if (manifest === undefined) return;
  const previous = context.store.assetFiles.get(key);
  if (previous === undefined || !(await isWhole(context, previous, manifest.revision))) {
    const asset = await materialise(context, { key, spec: manifest.spec }, { dryRun: false, previous });
    refuseFaults(asset.problems.map(({ message }) => message));
    await save(context, manifest, asset);
    refuseFaults(
      Object.entries(asset.errors).map(([file, text]) => `cannot fetch "${file}" of ${formatKey(key)}: ${text}`),
    );
  }
  const now = context.store.assetFiles.get(key);
  // A round that failed has left its error there.
  if (now !== undefined) await putStatus(context, key, assetStatus(now));
}

async function isWhole(context: Context, known: AssetFiles, revision: number): Promise<boolean> {
  if (Object.keys(known.errors).length > 0 || known.revision !== revision) return false;
  for (const digest of Object.values(known.files)) if ((await context.assets.verify(digest)) !== "ok") return false;
  return true;
}

function refuseFaults(texts: string[]): void {
  for (const text of texts) throw new Failure("unavailable", text, { reason: "AssetUnavailable" });
}

async function save(context: Context, manifest: StoredManifest, asset: MaterialisedAsset): Promise<void> {
  await context.store.write((tx) => {
    // Applied or deleted meanwhile: what was fetched belongs to a manifest that is no more.
    if (tx.manifests.get(manifest)?.revision !== manifest.revision) return;
    const now = context.clock.now();
    const watched = watchReaders(tx, [manifest]);
    if (!putAsset(tx, manifest, { asset, revision: manifest.revision, now })) return;
    const lookup = storedLookup(context);
    const readers = restampReaders(tx, { assets: [manifest], except: new Set(), lookup, now, actor: "reconciler" });
    for (const result of readers) releaseFor(context, tx, result, { now });
    rollReaders(context, tx, { watched, refuseLoss: false, actor: "reconciler", now });
  });
}
