import type { CoreKind, ManifestKey, Spec } from "../api/manifest.ts";
import { canonicalJson } from "./canonical.ts";
import type { Seal } from "./seal.ts";

/** Applies `f` to every secret string of a spec and returns a spec with the results, the given one untouched. */
export type MapSecrets = (kind: CoreKind, spec: Spec, f: (value: string, path: string) => string) => Spec;

/** A spec as the database keeps it: canonical JSON whose secret strings are sealed, each bound to its place. */
export interface SealedSpec {
  text: string;
  sealed: boolean;
}

export interface SpecSealer {
  /** `text` is the canonical JSON of `spec`. */
  seal(key: ManifestKey & { kind: CoreKind }, spec: Spec, text: string): SealedSpec;
  open(key: ManifestKey & { kind: CoreKind }, stored: SealedSpec): Spec;
}

const mark = "sealed:";

export function createSpecSealer(seal: Seal, mapSecrets: MapSecrets): SpecSealer {
  return {
    seal(key, spec, text) {
      let sealed = false;
      const covered = mapSecrets(key.kind, spec, (value, path) => {
        sealed = true;
        return mark + Buffer.from(seal.seal(value, placeOf(key, path))).toString("base64");
      });
      return { text: sealed ? canonicalJson(covered) : text, sealed };
    },
    open(key, stored) {
      const spec: Spec = JSON.parse(stored.text);
      if (!stored.sealed) return spec;
      return mapSecrets(key.kind, spec, (value, path) => {
        // A field that became secret in a later version is still in clear in rows of an earlier one.
        if (!value.startsWith(mark)) return value;
        return seal.open(Buffer.from(value.slice(mark.length), "base64"), placeOf(key, path));
      });
    },
  };
}

function placeOf(key: ManifestKey, path: string): string {
  return ["manifests", key.kind, key.scope, key.name, path].join("\0");
}
