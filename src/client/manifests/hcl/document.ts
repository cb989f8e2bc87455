import type { Entry, ManifestFile } from "../entry.ts";
import type { Variables } from "../interpolate.ts";
import type { Fault } from "../source.ts";
import { readManifest } from "./blocks.ts";
import { parseHcl } from "./parser.ts";
import type { Reading } from "./values.ts";

interface HclSetup {
  variables: Variables | "kept";
  readAsset: (file: ManifestFile, path: string) => Uint8Array;
  depthMax: number;
  nodesMax: number;
}

/** The manifests of an HCL file, one for each block. A file with a fault in its syntax has none. */
export function readHcl(file: ManifestFile, setup: HclSetup, faults: Fault[]): Entry[] {
  const own: Fault[] = [];
  const body = parseHcl(file, setup.depthMax, own);
  faults.push(...own);
  if (own.length > 0) return [];
  return body.items.flatMap((item) => {
    if (item.type === "attribute") {
      const message = `"${item.name}" is outside of a block: write it into one, such as deployment "SCOPE" "NAME" { … }`;
      faults.push({ span: item.nameSpan, message });
      return [];
    }
    const reading: Reading = {
      variables: setup.variables,
      readAsset: (path) => setup.readAsset(file, path),
      nodesMax: setup.nodesMax,
      nodes: 0,
      places: new Map(),
      faults,
    };
    const manifest = readManifest(reading, item);
    return [{ file, manifest, places: reading.places }];
  });
}
