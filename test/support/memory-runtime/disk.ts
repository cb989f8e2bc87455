import type { Engine } from "../../../src/orchestration/engine/engine.ts";
import type { ContainerTable } from "./container-table.ts";
import type { Faults } from "./faults.ts";
import type { ImageShelf } from "./images.ts";
import type { Resources } from "./resources.ts";

interface DiskWorld {
  faults: Faults;
  table: ContainerTable;
  images: ImageShelf;
  resources: Resources;
}

const volumeBytes = 1_000;

/** Measures what there is in memory: each volume has 1,000 bytes, and there is no build cache. */
export function diskCalls({
  faults,
  table,
  images,
  resources,
}: DiskWorld): Pick<Engine, "diskUse" | "pruneBuildCache"> {
  const entries = () => Array.from(table.entries());
  return {
    diskUse: () =>
      faults.does("diskUse", "", () => {
        const rows = images.list();
        return {
          layersBytes: rows.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
          images: rows.map(({ id, tags, sizeBytes }) => ({
            ...{ id, tags, bytes: sizeBytes },
            containers: entries().filter(({ detail }) => detail.imageId === id).length,
          })),
          ...{ writableBytes: 0, containers: entries().length, logBytes: undefined },
          volumes: resources.listVolumes({}).map((volume) => ({
            ...{ ...volume, bytes: volumeBytes },
            users: entries().filter(({ spec }) => spec.mounts.some(({ source }) => source === volume.name)).length,
          })),
          ...{ buildCacheBytes: 0, buildCacheUnusedBytes: 0 },
        };
      }),
    pruneBuildCache: () => faults.does("pruneBuildCache", "", () => 0),
  };
}
