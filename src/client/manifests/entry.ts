import type { Format, Source, Span } from "./source.ts";

/** A file that holds manifests. */
export interface ManifestFile extends Source {
  /** Where the paths in it start from. */
  directory: string;
  format: Format;
  /** Found below a folder: it was not named as a manifest. */
  isBelow?: boolean;
}

/** One manifest as written, with the place of every path in it. */
export interface Entry {
  file: ManifestFile;
  manifest: Record<string, unknown>;
  places: Map<string, Place>;
}

/** Where a value, and the key before it, stand in the source. */
export interface Place {
  value: Span;
  key: Span | undefined;
}
