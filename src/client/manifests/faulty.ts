import type { Entry } from "./entry.ts";
import { type Fault, formatFaults, ManifestError } from "./source.ts";

interface Found {
  faults: readonly Fault[];
  /** What has no place in a file: files that cannot be read, or that are not manifests. */
  texts: readonly string[];
  /** The manifests that were read all the same; what is at a fault is missing in them. */
  entries: readonly Entry[];
}

/** Every fault found while manifests were read. */
export class FaultyManifests extends ManifestError {
  readonly texts: readonly string[];
  readonly entries: readonly Entry[];

  constructor({ faults, texts, entries }: Found, shownMax: number) {
    super(faults, shownMax);
    const placed = faults.length === 0 ? [] : [formatFaults(faults, shownMax)];
    this.message = [...placed, ...texts].join("\n\n");
    this.name = "FaultyManifests";
    this.texts = texts;
    this.entries = entries;
  }
}
