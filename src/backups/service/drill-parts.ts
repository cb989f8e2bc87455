import type { Gate } from "../../base/deliver/gate.ts";
import type { VolumeCopy } from "../core/restore-choice.ts";
import type { dueScopes, EndedDrill, StoredDrill } from "../core/drills.ts";
import type { DrillFill } from "./drill-database.ts";
import type { AppVolumes } from "./platform.ts";
import type { Limit } from "../../base/words/limit.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { DatabaseVolumes, RestoreParts } from "./restore-parts.ts";

export type DrilledKey = Pick<AppVolumes, "scope" | "kind" | "name">;

/** How a restored app did, and for how long it was only watched, since nothing of it says when it was ready. */
export interface Tried {
  result: "proved" | "started";
  watchedMs: number;
}

/** Where restored apps live. */
export interface TrialStage {
  examine(key: DrilledKey): Promise<{ refused: string } | { memoryBytes: number; replicas: number; names: string[] }>;
  open(id: string): Promise<void>;
  /** The name of a new volume, and the folder of its data. */
  makeVolume(name: string): Promise<{ volume: string; folder: string }>;
  /** Runs the release commands; undefined where there are none. */
  release(
    order: Order,
    signal: AbortSignal,
  ): Promise<{ exitCode: number | undefined; said: string; failed: string | undefined } | undefined>;
  start(order: Order, signal: AbortSignal): Promise<TriedPod>;
  clear(): Promise<void>;
}

interface Order {
  key: DrilledKey;
  ordinal: number | undefined;
  id: string;
  volumes: Map<string, string>;
}

export interface TriedPod {
  isChecked: boolean;
  ready(signal: AbortSignal): Promise<Tried>;
}

/** Apps as a change would have them. */
export interface Rehearsed {
  stage: TrialStage;
  apps: (DrilledKey & {
    volumes: { claim: string; ordinal: number | undefined; volume: string }[];
    hasRelease: boolean;
  })[];
  left: { ref: string; why: string }[];
}

export interface DrillParts extends Pick<
  RestoreParts,
  "targets" | "source" | "folders" | "log" | "randomBytes" | "onEvent" | "wal"
> {
  /** Those of this server, whether they are protected or not. */
  databases(): DatabaseVolumes[];
  /** See `BackupOptions`: copies and restores go on beside it, which may take hours. */
  reading: Limit;
  clock: SteadyClock;
  drills(): StoredDrill[];
  putDrill(drill: StoredDrill): Promise<void>;
  removeDrill(drill: StoredDrill): Promise<void>;
  apps(): AppVolumes[];
  stage: TrialStage;
  gate: Gate;
  /** Where the engine keeps volumes. */
  volumesFolder(): Promise<string>;
  freeMemory(): number | undefined;
  /** See `config/backup-limits.ts`. */
  limits: Parameters<typeof dueScopes>[1] & {
    rehearsalsMax: number;
    rehearsalHeadStartMs: number;
    drillLookMs: number;
    drillReadyMs: number;
    drillSpareMemoryBytes: number;
    drillSpareDiskBytes: number;
    lookMs: number;
  };
}

/** An app with what is drilled of it. */
export interface Case {
  app: AppVolumes;
  copies: (VolumeCopy & { volume: string })[];
  replicas: number;
  memoryBytes: number;
  names: string[];
  /** What the pod of a database fills an empty volume from. */
  fill?: DrillFill | undefined;
}

/** What did not come back of what an app mounts, and why; undefined: all of it did. */
export function faultOf(
  { copies, fill }: Pick<Case, "copies" | "fill">,
  faults: ReadonlyMap<string, string>,
): string | undefined {
  const volumes = [...copies.map(({ volume }) => volume), ...(fill === undefined ? [] : [fill.backups])];
  return volumes.map((volume) => faults.get(volume)).find((fault) => fault !== undefined);
}

/** Names the first volume that has no copy, and the targets that do not answer: one of them may have it. */
export function uncopiedText(
  missing: readonly { what: string }[],
  unreachable: readonly { target: string; why: string }[],
): string {
  const away = unreachable.map(({ target, why }) => `; ${target} does not answer: ${why}`).join("");
  return `there is no copy of ${missing[0]?.what}${away}`;
}

export function factsOf({ copies, fill }: Case, sizes: ReadonlyMap<string, number>) {
  if (fill !== undefined) return { target: fill.target, copyAt: fill.at, bytes: fill.bytes };
  return {
    target: copies[0]?.target,
    copyAt: copies.length === 0 ? undefined : Math.min(...copies.map(({ at }) => at)),
    bytes: copies.reduce((sum, { volume }) => sum + (sizes.get(volume) ?? 0), 0),
  };
}

/**
 * How the drill of an app ended that did not start. One that was changed meanwhile, or that names an app which is not part
 * of the drill, says nothing of its copies.
 */
export async function notStarted(
  stage: Pick<TrialStage, "examine">,
  {
    one: { app, names },
    cases,
    why,
    of = "drill",
  }: { one: Case; cases: readonly Case[]; why: string; of?: "drill" | "rehearsal" },
): Promise<Pick<EndedDrill, "result" | "why">> {
  const now = await stage.examine(app);
  if ("refused" in now) return { result: "not_drilled", why: now.refused };
  const lacking = names.find((name) => !cases.some((other) => `${other.app.scope}/${other.app.name}` === name));
  if (lacking === undefined) return { result: "failed", why };
  return { result: "not_drilled", why: `it may need ${lacking}, which is not part of the ${of}; ${why}` };
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
  const freeDisk = freeBytes - limits.drillSpareDiskBytes;
  const memory = (freeMemory() ?? Number.POSITIVE_INFINITY) - limits.drillSpareMemoryBytes;
  for (const [wants, free, of] of [
    [bytes, freeDisk, "disk"],
    [memoryBytes, memory, "memory"],
  ] as const) {
    const text = `the copies take ${mebibytes(wants)}, and only ${mebibytes(Math.max(0, free))} of the ${of} can be used`;
    if (wants > free) return `${text}; free some, or try one app alone`;
  }
  return undefined;
}

const mebibytes = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MiB`;
