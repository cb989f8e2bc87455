import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  truncateSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { compareWords } from "../../core/logs/retention.ts";
import type { LogApp } from "../../core/logs/line.ts";
import { scanSegment, type Segment } from "./segment.ts";

const ending = ".blocks";
const aside = "damaged";
const hourName = /^(\d{4}-\d{2}-\d{2}T\d{2})(?:-\d+)?\.blocks$/;

/** What reading the folder found beside the segments. */
interface Findings {
  segments: Segment[];
  /** Bytes of writes that a crash cut short, by path. */
  torn: { path: string; bytes: number }[];
  /** Files without a single whole block: set aside. */
  damaged: string[];
}

/** Reads `FOLDER/SCOPE/NAME/HOUR.blocks`, oldest first. */
export function readFolder(folder: string): Findings {
  const found: Findings = { segments: [], torn: [], damaged: [] };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const scope of namesIn(folder)) {
    if (scope === aside) continue;
    for (const name of namesIn(join(folder, scope))) readApp(folder, { scope, name }, found);
  }
  // The second file of an hour has a longer name than the first, the tenth a longer one than the ninth.
  found.segments.sort((a, b) => a.hourAt - b.hourAt || a.path.length - b.path.length || compareWords(a.path, b.path));
  return found;
}

function readApp(folder: string, app: LogApp, found: Findings): void {
  const place = join(folder, app.scope, app.name);
  for (const file of namesIn(place)) {
    const path = join(place, file);
    const hour = hourName.exec(file)?.[1];
    // What a crash left of a file that was being made.
    if (hour === undefined) {
      if (file.endsWith(".new")) rmSync(path, { force: true });
      continue;
    }
    const { segment, tornBytes } = scanSegment(path, app, Date.parse(`${hour}:00:00Z`));
    if (segment.blocks.length === 0) {
      setAside(folder, path);
      found.damaged.push(path);
      continue;
    }
    if (tornBytes > 0) {
      truncateSync(path, segment.bytes);
      found.torn.push({ path, bytes: tornBytes });
    }
    found.segments.push(segment);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

/** Path of a segment; `serial` tells apart several of one hour. */
export function segmentPath(folder: string, app: LogApp, at: { hourAt: number; serial: number }): string {
  const hour = new Date(at.hourAt).toISOString().slice(0, 13);
  return join(folder, app.scope, app.name, `${hour}${at.serial === 0 ? "" : `-${at.serial}`}${ending}`);
}

export function makeFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
}

/** Moves a damaged file out of the way; it is kept until there are too many. */
export function setAside(folder: string, path: string): void {
  const place = join(folder, aside);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const name = path.slice(folder.length + 1).replaceAll("/", "_");
  renameSync(path, join(place, name));
  for (const old of namesIn(place).sort().slice(0, -damagedKept)) rmSync(join(place, old), { force: true });
}

const damagedKept = 10;

/** Makes a rename or a new file last. */
export function syncFolder(path: string): void {
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

export function freeSpace(folder: string): { freeBytes: number; totalBytes: number } {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}
