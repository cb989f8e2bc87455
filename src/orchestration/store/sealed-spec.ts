import type { ManifestKey, Spec } from "../api/manifest.ts";
import { orderedJson } from "../../base/pure/canonical.ts";
import type { Seal } from "../../base/sqlite/seal.ts";

/** Applies `f` to every secret string of a spec and returns a spec with the results, the given one untouched. */
export type MapSecrets = (kind: string, spec: Spec, f: (value: string, path: string) => string) => Spec;

/** A spec as the database keeps it: canonical JSON whose secret strings are sealed, each bound to its place. */
interface SealedSpec {
  text: string;
  sealed: boolean;
}

export interface SpecSealer<Row extends ManifestKey> {
  /** `text` is the canonical JSON of `spec`. */
  seal(row: Row, spec: Spec, text: string): SealedSpec;
  open(row: Row, stored: SealedSpec): Spec;
}

const mark = "sealed:";

/** `placeOf` names the row a spec belongs to: a sealed string moved to another row does not open there. */
export function createSpecSealer<Row extends ManifestKey>(
  seal: Seal,
  mapSecrets: MapSecrets,
  placeOf: (row: Row) => string[],
): SpecSealer<Row> {
  const placeAt = (row: Row, path: string) => [...placeOf(row), path].join("\0");
  return {
    seal(row, spec, text) {
      let sealed = false;
      const covered = mapSecrets(row.kind, spec, (value, path) => {
        sealed = true;
        return mark + Buffer.from(seal.seal(value, placeAt(row, path))).toString("base64");
      });
      return { text: sealed ? orderedJson(covered) : text, sealed };
    },
    open(row, stored) {
      const spec: Spec = JSON.parse(stored.text);
      if (!stored.sealed) return spec;
      return mapSecrets(row.kind, spec, (value, path) => {
        // A field that became secret in a later version is still in clear in rows of an earlier one.
        if (!value.startsWith(mark)) return value;
        return seal.open(Buffer.from(value.slice(mark.length), "base64"), placeAt(row, path));
      });
    },
  };
}
