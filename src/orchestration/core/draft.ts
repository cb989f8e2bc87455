import type { WritableKind } from "../api/kinds/schemas.ts";
import type { CoreKind, Spec } from "../api/manifest.ts";

/** A manifest as a caller sent it, validated: kind in its canonical spelling, scope "" when there is none. */
export interface DraftManifest {
  kind: WritableKind;
  scope: string;
  name: string;
  spec: Spec;
  /** The write is refused unless the stored revision is this one (0: unless there is none). */
  ifRevision?: number;
}

/** A draft that can be stored: `app` blocks are expanded. */
export interface CoreDraft extends DraftManifest {
  kind: CoreKind;
}

/** A block of a kind that a plugin claims; `index` is its place among the manifests of the body, from 0. */
export interface PluginBlock {
  index: number;
  kind: string;
  scope: string;
  name: string;
  spec: Spec;
  /** As with a manifest, of the block itself. */
  ifRevision?: number;
}
