import type { StoredManifest } from "../api/manifest.ts";
import type { Naming } from "./naming.ts";
import type { IsPlainVolume } from "./named-volumes.ts";
import type { FindReferenced } from "./references.ts";

export interface ResolveInput {
  /** A deployment or statefulset. */
  manifest: StoredManifest;
  /** Scope level overlaid with app level. */
  config: Record<string, string>;
  /** The merged buckets that `env_from` names, in order. */
  envFrom: Record<string, string>[];
  /** Absolute host path of the file with this sha256. */
  assetPath: (digest: string) => string;
  /** Whether this volume of a scope has the plain name in the engine, as all had before they belonged to scopes. */
  isPlainVolume: IsPlainVolume;
  /** The manifests that `${ref.…}` may name; asked for none outside the own scope. */
  findReferenced: FindReferenced;
  names: Naming;
  /** Where containers send telemetry; `url` is undefined until the listener is open. Absent: it is turned off. */
  telemetry?: { url: string | undefined } | undefined;
  /** Set for a manifest that a plugin's block was expanded into. Not part of the hash: a new version alone rolls nothing. */
  origin?: Origin | undefined;
}

export interface Origin {
  /** `postgres/data/main` */
  block: string;
  /** `postgres@1.2` */
  plugin: string;
  /** Where its containers reach the controller; undefined while they cannot. */
  controllerUrl: string | undefined;
}
