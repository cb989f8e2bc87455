import {
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";
import type { LogApp } from "../../core/logs/line.ts";
import { hourOf, isLater, makeFolder, namesIn, segmentPath } from "./folder.ts";
import { scanSegment } from "./segment.ts";

/**
 * A copy of stored lines that opens as a store, while lines go on being stored: the newest file of an app is written to, and
 * is copied up to its last whole block; the others are links.
 */
export function stageSegments(folder: string, target: string): void {
  for (const app of appsIn(folder)) {
    const files = segmentsOf(folder, app);
    const newest = files.reduce((a, b) => (isLater(b, a) ? b : a), "");
    for (const file of files) {
      const [from, to] = [folder, target].map((place) => join(place, app.scope, app.name, file)) as [string, string];
      makeFolder(to);
      if (!isThere(() => (file === newest ? copyFileSync(from, to) : linkOrCopy(from, to)))) continue;
      if (file !== newest) continue;
      const { segment } = scanSegment(to, app, hourOf(file) ?? 0);
      truncateSync(to, segment.bytes);
    }
  }
}

/** Puts the files of a copy beside those that are there. A file that is there already with the same lines is left out. */
export function mergeSegments(copy: string, folder: string): void {
  for (const app of appsIn(copy)) {
    for (const file of segmentsOf(copy, app)) {
      const from = join(copy, app.scope, app.name, file);
      const place = (serial: number) => segmentPath(folder, app, { hourAt: hourOf(file) ?? 0, serial });
      let serial = 0;
      const isSame = () => readFileSync(place(serial)).equals(readFileSync(from));
      while (existsSync(place(serial)) && !isSame()) serial += 1;
      if (existsSync(place(serial))) continue;
      makeFolder(place(serial));
      renameSync(from, place(serial));
    }
  }
}

function appsIn(folder: string): LogApp[] {
  return namesIn(folder).flatMap((scope) =>
    namesIn(join(folder, scope))
      .filter((name) => statSync(join(folder, scope, name), { throwIfNoEntry: false })?.isDirectory())
      .map((name) => ({ scope, name })),
  );
}

const segmentsOf = (folder: string, { scope, name }: LogApp) =>
  readdirSync(join(folder, scope, name)).filter((file) => hourOf(file) !== undefined);

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** False where what is read was removed meanwhile: it was too old. */
function isThere(read: () => void): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return false;
  }
}
