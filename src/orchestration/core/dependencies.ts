import { keyText } from "../api/manifest-key.ts";
import type { CoreKind, ManifestKey, Spec } from "../api/manifest.ts";
import { assetRefs } from "./assets.ts";
import { envFromTarget } from "./env-from.ts";
import { referenceUses } from "./references.ts";
import { containerOf } from "./spec/decode.ts";

/**
 * What a manifest reads besides its own config: `asset/<scope>/<name>` (scope empty for unscoped ones; a reference
 * without a scope depends on both places), `bucket/<scope>/<name>` and `bucket/<scope>/` per `env_from`, and
 * `ref/<kind>/<scope>/<name>` per `${ref.…}`. Sorted.
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
  for (const { target } of referenceUses(manifest)) targets.add(referenceDependency(target));
  return [...targets].sort();
}

/** How the index of dependencies names a manifest whose values are read. */
export function referenceDependency(target: ManifestKey): string {
  return `ref/${keyText(target)}`;
}

/** The apps whose config a manifest reads through `env_from`, in order: the later wins. */
export function envSources(manifest: { kind: CoreKind; scope: string; spec: Spec }): { scope: string; name: string }[] {
  const entries = containerOf(manifest.kind, manifest.spec)?.container.envFrom ?? [];
  return entries.flatMap((entry) => envFromTarget(entry, manifest.scope) ?? []);
}
