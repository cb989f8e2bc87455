import type { Spec } from "../../api/manifest.ts";
import { containerOf } from "../../core/spec/decode.ts";
import type { Context } from "../state/context.ts";

/**
 * Removes asset files that nothing refers to: no stored asset, no manifest that reads one, no release that a rollback
 * could return to. Files written by an apply under way are younger than its transaction, so what is unreferenced is
 * removed only when it was so at the last look, too. Returns their digests.
 */
export async function collectAssets(context: Context): Promise<string[]> {
  const kept = referenced(context);
  const files = await context.assets.list();
  const unused = files.filter((digest) => !kept.has(digest) && !context.assetHolds.has(digest));
  const doomed = unused.filter((digest) => context.unusedAssets.has(digest));
  for (const digest of doomed) await context.assets.remove(digest);
  context.unusedAssets.clear();
  for (const digest of unused) context.unusedAssets.add(digest);
  return doomed;
}

/** Removes what an apply wrote that was refused, unless something else refers to it. */
export async function discardAssets(context: Context, digests: readonly string[]): Promise<void> {
  const kept = referenced(context);
  const unused = digests.filter((digest) => !kept.has(digest) && !context.assetHolds.has(digest));
  for (const digest of unused) await context.assets.remove(digest);
}

function referenced(context: Context): Set<string> {
  const { manifests, assetFiles, releases } = context.store;
  const kept = new Set<string>();
  const read = ({ kind, spec }: { kind: string; spec: Spec }) => {
    for (const digest of Object.values(containerOf(kind, spec)?.container.assetDigests ?? {})) kept.add(digest);
  };
  for (const manifest of manifests.list()) {
    if (manifest.kind === "asset") {
      for (const digest of Object.values(assetFiles.get(manifest)?.files ?? {})) kept.add(digest);
      continue;
    }
    read(manifest);
    for (const release of releases.list(manifest)) read(release);
  }
  return kept;
}
