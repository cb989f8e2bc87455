import type { Problem } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey, type Spec } from "../../api/manifest.ts";
import { type AssetFileSource, assetFiles, type AssetLookup } from "../../core/assets.ts";
import { assetDigest } from "../../../base/pure/digest.ts";
import type { AssetFiles } from "../../store/look-records.ts";
import type { Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";

/** Files of one asset manifest on their way into an apply. */
export interface MaterialisedAsset {
  files: Record<string, string>;
  errors: Record<string, string>;
  /** Keys that the manifest has, content or not. */
  declared: string[];
}

/**
 * Step 4 of an apply: bytes go into the content-addressed store, which is harmless before the transaction, and URLs
 * are fetched. With `dryRun` nothing is written or fetched: digests of inline files are computed, those of URLs are
 * the last known ones.
 */
export async function materialise(
  context: Context,
  asset: { key: ManifestKey; spec: Spec },
  options: { dryRun: boolean; previous: AssetFiles | undefined },
): Promise<MaterialisedAsset & { problems: Problem[] }> {
  const result: MaterialisedAsset & { problems: Problem[] } = { files: {}, errors: {}, declared: [], problems: [] };
  for (const file of assetFiles(asset.spec)) {
    const known = options.previous?.files[file.key];
    result.declared.push(file.key);
    if (file.source.type === "inline") {
      result.files[file.key] = options.dryRun
        ? assetDigest(file.source.bytes, file.mode)
        : await context.assets.put(file.source.bytes, file.mode);
    } else if (options.dryRun) {
      if (known !== undefined) result.files[file.key] = known;
    } else {
      await fetchInto(context, { file, known, asset: asset.key }, result);
    }
  }
  return result;
}

async function fetchInto(
  context: Context,
  { file, known, asset }: { file: AssetFileSource; known: string | undefined; asset: ManifestKey },
  result: MaterialisedAsset & { problems: Problem[] },
): Promise<void> {
  if (file.source.type !== "url") return;
  const { url, timeoutMs, onFailure } = file.source;
  try {
    result.files[file.key] = await context.assets.put(
      await context.download(url, { timeoutMs, bytesMax: context.limits.assetBytesMax }),
      file.mode,
    );
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    if (onFailure === "error") {
      result.problems.push({
        path: `spec.files.${file.key}`,
        message: `${formatKey(asset)}: cannot fetch "${url}": ${text}`,
      });
      return;
    }
    result.errors[file.key] = text;
    const usable = onFailure === "stale" && known !== undefined && (await context.assets.verify(known)) === "ok";
    if (usable) result.files[file.key] = known;
  }
}

/** Where the files of stored assets are looked up. */
export function storedLookup(context: Context): AssetLookup {
  return ({ scope, name, key }) => {
    const asset = storedAsset(context, scope, name);
    return asset === undefined ? undefined : fileOf(asset, key);
  };
}

/** Null where the file is declared and its content is not here yet. */
export function fileOf({ files, declared }: MaterialisedAsset, key: string): string | null | undefined {
  return files[key] ?? (declared.includes(key) ? null : undefined);
}

function storedAsset(context: Context, scope: string, name: string): MaterialisedAsset | undefined {
  const key = { kind: "asset", scope, name };
  const manifest = context.store.manifests.get(key);
  if (manifest === undefined) return undefined;
  const { files, errors } = context.store.assetFiles.get(key) ?? { files: {}, errors: {} };
  return { files, errors, declared: assetFiles(manifest.spec).map((file) => file.key) };
}

/** Written only where something is new. Returns whether it was. */
export function putAsset(
  tx: Transaction,
  key: ManifestKey,
  { asset: { files, errors }, revision, now }: { asset: MaterialisedAsset; revision: number; now: number },
): boolean {
  const known = tx.assetFiles.get(key);
  const next = { files, errors, revision, at: now };
  if (Bun.deepEquals(known && { ...known, at: now }, next)) return false;
  tx.assetFiles.put(key, next);
  tx.status.put(key, assetStatus(next));
  return true;
}

export function assetStatus({ files, errors, at, revision }: AssetFiles): Record<string, unknown> {
  return {
    phase: Object.keys(errors).length === 0 ? "ready" : "failing",
    files,
    errors,
    materialised_at: new Date(at).toISOString(),
    observed_revision: revision,
  };
}
