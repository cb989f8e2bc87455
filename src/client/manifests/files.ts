import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { CommandFailure } from "../basics/failures.ts";
import { cannotRead, readText } from "../basics/read-bounded.ts";
import type { ManifestFile } from "./entry.ts";
import { type Format, formatOfExtension } from "./source.ts";

export interface FileLimits {
  manifestFilesMax: number;
  fileBytesMax: number;
}

interface FileSetup {
  /** Working directory of the operator. */
  cwd: string;
  stdin: () => Promise<string>;
  /** Language of standard input, and of files whose names do not tell; default: YAML. */
  format?: Format | undefined;
  limits: FileLimits;
  /** Gets what cannot be read, so that the rest is; left out, the first of these is thrown. */
  unread?: CommandFailure[];
}

/**
 * The files behind the operator's `-f` values, in that order: a file, a folder (all below it with an
 * extension of `formatOfExtension`, sorted by path), or `-` for standard input.
 */
export async function manifestFiles(paths: readonly string[], setup: FileSetup): Promise<ManifestFile[]> {
  const files: ManifestFile[] = [];
  for (const path of new Set(paths)) {
    if (path === "-")
      files.push({ name: "stdin", text: await setup.stdin(), directory: setup.cwd, format: setup.format ?? "yaml" });
    else
      for (const name of tried(setup, () => manifestPaths(path, setup.cwd)) ?? []) {
        const file = tried(setup, () => manifestFile(name, setup));
        if (file !== undefined) files.push({ ...file, ...(name === path ? {} : { isBelow: true }) });
      }
    if (files.length > setup.limits.manifestFilesMax) {
      throw new CommandFailure(`more than ${setup.limits.manifestFilesMax} manifest files: apply them in parts`);
    }
  }
  return files;
}

function tried<T>({ unread }: FileSetup, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (unread === undefined || !(error instanceof CommandFailure)) throw error;
    unread.push(error);
    return undefined;
  }
}

function manifestFile(name: string, { cwd, limits, format }: FileSetup): ManifestFile {
  const path = resolve(cwd, name);
  const text = readText(path, name, { bytesMax: limits.fileBytesMax, mayBePipe: true });
  return { name, text, directory: dirname(path), format: formatOf(name) ?? format ?? "yaml" };
}

/** The language that the name of a file tells. */
export function formatOf(name: string): Format | undefined {
  const dot = name.lastIndexOf(".");
  return dot === -1 ? undefined : formatOfExtension.get(name.slice(dot + 1));
}

/** The manifest files that a path of the operator stands for: itself, or all that are below a folder. */
export function manifestPaths(name: string, cwd: string, { mayBeEmpty = false } = {}): string[] {
  const path = resolve(cwd, name);
  if (!stat(path, name).isDirectory()) return [name];
  const found = below(path, name)
    .filter((item) => !item.isDirectory() && formatOf(item.name) !== undefined && !isOwnState(item))
    .map((item) => join(name, join(item.parentPath, item.name).slice(path.length)))
    .sort();
  if (found.length > 0 || mayBeEmpty) return found;
  const known = [...formatOfExtension.keys()].map((extension) => `.${extension}`);
  throw new CommandFailure(
    `no manifest in folder "${name}": it holds no ${known.slice(0, -1).join(", ")} or ${known.at(-1)} file`,
  );
}

/** Settings of another client, which stand among its manifests and are none. */
function isOwnState({ name, parentPath }: { name: string; parentPath: string }): boolean {
  return name === "app.json" && basename(parentPath) === ".voodu";
}

function below(path: string, name: string) {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true });
  } catch (error) {
    throw cannotRead(`${name} and what is below`, error);
  }
}

/** A path that a manifest in `directory` names. Throws where it leads out of `within`. */
export function resolveWithin(directory: string, path: string, within: string | undefined): string {
  const full = resolve(directory, path);
  if (within === undefined || full === within || full.startsWith(`${within}/`)) return full;
  throw new CommandFailure(`"${path}" leads out of the folder that is deployed`);
}

function stat(path: string, name: string) {
  try {
    return statSync(path);
  } catch (error) {
    throw cannotRead(name, error);
  }
}
