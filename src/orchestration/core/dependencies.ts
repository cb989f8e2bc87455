import { containerKinds, type CoreKind, type ManifestKey, type Spec } from "../api/manifest.ts";
import { assetRefs } from "./assets.ts";
import { containerFieldsOf } from "./container-fields.ts";
import { envFromTarget } from "./env-from.ts";
import { wordsOf } from "./lenient.ts";
import { referenceUses } from "./references.ts";

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
export function referenceDependency({ kind, scope, name }: ManifestKey): string {
  return `ref/${kind}/${scope}/${name}`;
}

/** The apps whose config a manifest reads through `env_from`, in order: the later wins. */
export function envSources(manifest: { kind: CoreKind; scope: string; spec: Spec }): { scope: string; name: string }[] {
  if (!containerKinds.some((kind) => kind === manifest.kind)) return [];
  const entries = wordsOf(containerFieldsOf(manifest.kind, manifest.spec).fields.env_from);
  return entries.flatMap((entry) => envFromTarget(entry, manifest.scope) ?? []);
}
