import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, posix, relative, resolve } from "node:path";
import type { Machine } from "./machine-paths.ts";

export interface FolderLimits {
  /** Files of a folder that becomes part of an asset, and their bytes together. */
  assetFolderFilesMax: number;
  assetFolderBytesMax: number;
}

/** The machine of the Compose file; relative paths start at `base`, and the file is in `project`. */
export function machineAt(base: string, project: string, limits: FolderLimits): Machine {
  const full = (path: string) => resolve(base, path.replace(/^~(?=\/|$)/, homedir()));
  return {
    look(path) {
      const found = statSync(full(path), { throwIfNoEntry: false });
      if (found === undefined) return "absent";
      return found.isFile() ? "file" : "folder";
    },
    text(path) {
      const found = statSync(full(path), { throwIfNoEntry: false });
      // A pipe would keep the reader waiting, and a device gives bytes without end.
      const isText = found?.isFile() === true && found.size <= limits.assetFolderBytesMax;
      return isText ? readFileSync(full(path), "utf8") : undefined;
    },
    runs: (path) => ((statSync(full(path), { throwIfNoEntry: false })?.mode ?? 0) & 0o100) !== 0,
    filesIn: (path) => filesBelow(full(path), limits),
    inside(path) {
      if (!path.startsWith("/") || (path !== project && !path.startsWith(`${project}/`))) return undefined;
      const way = relative(base, path);
      return way.startsWith(".") ? way : `./${way}`;
    },
  };
}

/** Folders that programs make from what is beside them. */
const made = [".git", "node_modules"];

function filesBelow(folder: string, { assetFolderFilesMax: filesMax, assetFolderBytesMax }: FolderLimits) {
  const files: string[] = [];
  let bytes = 0;
  const walk = (below: string): boolean => {
    for (const entry of entriesOf(join(folder, below))) {
      const path = posix.join(below, entry.name);
      if (entry.isDirectory()) {
        if (made.includes(entry.name) || !walk(path)) return false;
      } else if (![".gitkeep", ".gitignore", ".keep"].includes(entry.name)) {
        bytes += statSync(join(folder, path), { throwIfNoEntry: false })?.size ?? 0;
        files.push(path);
        if (files.length > filesMax || bytes > assetFolderBytesMax) return false;
      }
    }
    return true;
  };
  // A pipe, a socket or a device is mounted as it is.
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder && walk("") ? files.sort() : undefined;
}

function entriesOf(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
}
