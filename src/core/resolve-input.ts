import type { StoredManifest } from "../api/manifest.ts";
import type { Naming } from "./naming.ts";
import type { ReferentLookup } from "./references.ts";

export interface ResolveInput {
  /** A deployment or statefulset. */
  manifest: StoredManifest;
  /** Scope level overlaid with app level. */
  config: Record<string, string>;
  /** The merged buckets that `env_from` names, in order. */
  envFrom: Record<string, string>[];
  /** Absolute host path of the file with this sha256. */
  assetPath: (digest: string) => string;
  /** The manifests that `${ref.…}` may name; asked for none outside the own scope. */
  referent: ReferentLookup;
  names: Naming;
}
