import { parseDockerOptions } from "../../orchestration/core/docker-options.ts";
import { type Naming, networkAliases } from "../../orchestration/core/naming.ts";
import { podOf } from "../../orchestration/core/spec/decode.ts";
import type { ManifestKey, StoredManifest } from "../../orchestration/api/manifest.ts";

interface NamedManifests {
  get(key: ManifestKey): StoredManifest | undefined;
  heads(): readonly ManifestKey[];
}

/** Short names (`db.shop`) of all deployments and statefulsets, kept up to date. */
interface ShortNames {
  changed(keys: readonly ManifestKey[]): void;
  list(): string[];
}

export function createShortNames(manifests: NamedManifests, names: Naming, max: number): ShortNames {
  const known = new Map<string, string[]>();
  const look = (key: ManifestKey) => {
    const id = `${key.kind}/${key.scope}/${key.name}`;
    const manifest = manifests.get(key);
    if (manifest === undefined) known.delete(id);
    else known.set(id, shortNamesOf(manifest, names));
  };
  for (const head of manifests.heads()) look(head);
  return {
    changed: (keys) => keys.forEach(look),
    list: () => [...new Set([...known.values()].flat())].slice(0, max),
  };
}

function shortNamesOf(manifest: StoredManifest, names: Naming): string[] {
  const pod = podOf(manifest);
  if (pod === undefined || pod.networkMode !== "bridge") return [];
  const { networkAliases: more } = parseDockerOptions(pod.dockerOptions, "").options;
  const ordinals = manifest.kind === "statefulset" ? Array.from({ length: pod.replicas }, (_, ordinal) => ordinal) : [];
  const all = [undefined, ...ordinals].flatMap((ordinal) => networkAliases(names, manifest, ordinal, more));
  return [...new Set(all)].filter((name) => name.includes(".") && !name.endsWith(`.${names.dnsSuffix}`));
}
