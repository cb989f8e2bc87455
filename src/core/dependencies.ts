import { containerKinds, type CoreKind, type Spec } from "../api/manifest.ts";
import { assetRefs } from "./assets.ts";
import { containerFieldsOf } from "./container-fields.ts";
import { envFromTarget } from "./env-from.ts";
import { wordsOf } from "./lenient.ts";

/**
 * What a manifest reads besides its own config: `asset/<scope>/<name>` (scope empty for unscoped ones; a reference
 * without a scope depends on both places), `bucket/<scope>/<name>` and `bucket/<scope>/` per `env_from`. Sorted.
 */
export function dependenciesOf(manifest: { kind: CoreKind; scope: string; spec: Spec }): string[] {
  const targets = new Set<string>();
  for (const { candidates } of assetRefs(manifest)) {
    for (const { scope, name } of candidates) targets.add(`asset/${scope}/${name}`);
  }
  for (const { scope, name } of envSources(manifest)) {
    targets.add(`bucket/${scope}/${name}`);
    targets.add(`bucket/${scope}/`);
  }
  return [...targets].sort();
}

/** The apps whose config a manifest reads through `env_from`, in order: the later wins. */
export function envSources(manifest: { kind: CoreKind; scope: string; spec: Spec }): { scope: string; name: string }[] {
  if (!containerKinds.some((kind) => kind === manifest.kind)) return [];
  const entries = wordsOf(containerFieldsOf(manifest.kind, manifest.spec).fields.env_from);
  return entries.flatMap((entry) => envFromTarget(entry, manifest.scope) ?? []);
}
