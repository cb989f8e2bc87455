import { stringify } from "yaml";

/** Manifests as YAML documents, without comments. */
export function yamlOf(manifests: readonly unknown[]): string {
  return manifests.map((one) => stringify(one, { lineWidth: 0, aliasDuplicateObjects: false })).join("---\n");
}
