import type { Gate } from "../../base/deliver/gate.ts";
import type { VolumeCopy } from "../core/restore-choice.ts";
import type { dueScopes, StoredDrill } from "../core/drills.ts";
import type { AppVolumes } from "./platform.ts";
import type { RestoreParts } from "./restore-plan.ts";

export type DrilledKey = Pick<AppVolumes, "scope" | "kind" | "name">;

/** Where restored apps live. */
interface DrillStage<K> {
  examine(key: K): Promise<{ refused: string } | { memoryBytes: number; replicas: number }>;
  open(id: string): Promise<void>;
  /** The name of a new volume, and the folder of its data. */
  makeVolume(name: string): Promise<{ volume: string; folder: string }>;
  start(
    order: { key: K; ordinal: number | undefined; id: string; volumes: Map<string, string> },
    signal: AbortSignal,
  ): Promise<{ ready(signal: AbortSignal): Promise<"proved" | "started"> }>;
  clear(): Promise<void>;
}

export interface DrillParts extends Pick<
  RestoreParts,
  "targets" | "source" | "folders" | "turn" | "clock" | "log" | "randomBytes" | "onEvent"
> {
  drills(): StoredDrill[];
  putDrill(drill: StoredDrill): Promise<void>;
  removeDrill(drill: StoredDrill): Promise<void>;
  apps(): AppVolumes[];
  stage: DrillStage<DrilledKey>;
  gate: Gate;
  /** Where the engine keeps volumes. */
  volumesFolder(): Promise<string>;
  freeMemory(): number | undefined;
  /** See `config/backup-limits.ts`. */
  limits: Parameters<typeof dueScopes>[1] & {
    drillLookMs: number;
    drillReadyMs: number;
    drillSpareMemoryBytes: number;
    restoreSpareBytes: number;
    lookMs: number;
  };
}

/** Sizes of copies, by the volumes that they are of. */
export async function sizesOf(
  { source }: Pick<RestoreParts, "source">,
  copies: readonly (Pick<VolumeCopy, "id" | "target"> & { volume: string })[],
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const { volume, target, id } of copies)
    if (!sizes.has(volume)) sizes.set(volume, await (await source(target)).size(id, undefined));
  return sizes;
}

/** Why the copies of a drill do not fit beside what is live; undefined: they do. */
export async function lackOfRoom(
  {
    folders,
    volumesFolder,
    freeMemory,
    limits,
  }: Pick<DrillParts, "folders" | "volumesFolder" | "freeMemory" | "limits">,
  { bytes, memoryBytes }: { bytes: number; memoryBytes: number },
): Promise<string | undefined> {
  const { freeBytes } = await folders.space(await volumesFolder());
  const freeDisk = freeBytes - limits.restoreSpareBytes;
  const memory = (freeMemory() ?? Number.POSITIVE_INFINITY) - limits.drillSpareMemoryBytes;
  for (const [wants, free, of] of [
    [bytes, freeDisk, "disk"],
    [memoryBytes, memory, "memory"],
  ] as const) {
    const text = `the copies take ${mebibytes(wants)}, and only ${mebibytes(Math.max(0, free))} of the ${of} can be used`;
    if (wants > free) return `${text}; free some, or drill one app alone`;
  }
  return undefined;
}

const mebibytes = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MiB`;
