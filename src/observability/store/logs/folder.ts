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
import { keepTail, scanSegment, type Segment } from "./segment.ts";

const ending = ".blocks";
const aside = "damaged";
/** When a segment was begun, by the name of its file, in epoch milliseconds; undefined for another file. */
export function hourOf(file: string): number | undefined {
  const hour = hourName.exec(file)?.[1];
  return hour === undefined ? undefined : Date.parse(`${hour}:00:00Z`);
}

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
  found.segments.sort((a, b) => a.hourAt - b.hourAt || bySerial(a.path, b.path));
  return found;
}

function readApp(folder: string, app: LogApp, found: Findings): void {
  const place = join(folder, app.scope, app.name);
  const files = namesIn(place);
  const newest = files.filter((file) => hourName.test(file)).reduce((a, b) => (isLater(b, a) ? b : a), "");
  for (const file of files) {
    const path = join(place, file);
    const hourAt = hourOf(file);
    // What a crash left of a file that was being made.
    if (hourAt === undefined) {
      if (file.endsWith(".new")) rmSync(path, { force: true });
      continue;
    }
    const { segment, tail } = scanSegment(path, app, hourAt);
    // A crash cuts short only the last write of an app. What is wrong elsewhere was whole once.
    const isTorn = file === newest && tail.looksTorn;
    if (segment.blocks.length === 0 && isTorn) {
      setAside(folder, path);
      found.damaged.push(path);
      continue;
    }
    if (tail.bytes > 0 && isTorn) {
      truncateSync(path, segment.bytes);
      found.torn.push({ path, bytes: tail.bytes });
    } else if (tail.bytes > 0) keepTail(segment, tail);
    found.segments.push(segment);
  }
}

/** Order of the segments of one hour: the second has a longer name than the first, the tenth a longer one than the ninth. */
function bySerial(a: string, b: string): number {
  return a.length - b.length || compareWords(a, b);
}

/** Whether the segment `a` of an app, by its name, was begun after `b`. */
export function isLater(a: string, b: string): boolean {
  return (compareWords(a.slice(0, 13), b.slice(0, 13)) || bySerial(a, b)) > 0;
}

export function namesIn(folder: string): string[] {
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
function setAside(folder: string, path: string): void {
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
