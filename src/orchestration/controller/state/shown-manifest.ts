import { isoTime } from "../../../base/pure/iso-time.ts";
import { keyOf } from "../../api/manifest-key.ts";
import type { Manifest, ManifestKey, StoredManifest } from "../../api/manifest.ts";
import { maskSpec } from "../../core/mask.ts";

/** A stored manifest as callers see it: secrets masked, times in ISO 8601. */
export function shownManifest(stored: StoredManifest): Manifest {
  return {
    ...shownKey(stored),
    spec: maskSpec(stored.kind, stored.spec),
    metadata: {
      revision: stored.revision,
      created_at: isoTime(stored.createdAt),
      updated_at: isoTime(stored.updatedAt),
    },
  };
}

/** The same without metadata: what a dry run would store has no revision yet. */
export function wouldBeManifest(stored: StoredManifest): Manifest {
  return { ...shownKey(stored), spec: maskSpec(stored.kind, stored.spec) };
}

function shownKey(key: ManifestKey): { kind: string; scope?: string; name: string } {
  return key.scope === "" ? { kind: key.kind, name: key.name } : keyOf(key);
}
