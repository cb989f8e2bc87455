import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { resolve } from "node:path";
import { CommandFailure } from "../basics/failures.ts";
import { readBounded } from "../basics/read-bounded.ts";
import { type FileLimits, formatOf, manifestPaths } from "./files.ts";
import { formatHcl } from "./hcl/format.ts";
import { type Fault, ManifestError } from "./source.ts";

interface FormatSetup {
  cwd: string;
  limits: FileLimits & { manifestDepthMax: number; faultsShownMax: number };
}

interface Formatted {
  /** Files that are now formatted and were not, or would be. */
  changed: string[];
  /** Named by the operator, and not in HCL. */
  left: string[];
  /** How many files in HCL there are. */
  read: number;
  /** What is wrong with the syntax of some; the others are formatted. */
  fault: ManifestError | undefined;
}

/** Brings the HCL files behind paths into their one style; `write: false` changes none. */
export function formatFiles(paths: readonly string[], setup: FormatSetup & { write: boolean }): Formatted {
  const result: Formatted = { changed: [], left: [], read: 0, fault: undefined };
  const faults: Fault[] = [];
  for (const name of new Set(paths.flatMap((path) => namesOf(path, setup, result.left)))) {
    result.read += 1;
    const path = resolve(setup.cwd, name);
    const before = decoded(readBounded(path, name, { bytesMax: setup.limits.fileBytesMax }), name);
    const after = formatHcl({ name, text: before }, setup.limits.manifestDepthMax, faults);
    if (after === undefined || after === before) continue;
    if (setup.write) replace(path, name, after);
    result.changed.push(name);
  }
  if (faults.length > 0) result.fault = new ManifestError(faults, setup.limits.faultsShownMax);
  return result;
}

/** Like `formatFiles`, for a text. Throws `ManifestError`. */
export function formatText(text: string, { limits }: FormatSetup): { before: string; after: string } {
  const faults: Fault[] = [];
  const after = formatHcl({ name: "stdin", text }, limits.manifestDepthMax, faults);
  if (after === undefined) throw new ManifestError(faults, limits.faultsShownMax);
  return { before: text, after };
}

function namesOf(path: string, { cwd }: FormatSetup, left: string[]): string[] {
  // A folder without a manifest has nothing to format.
  if (statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isDirectory()) {
    return manifestPaths(path, cwd, { mayBeEmpty: true }).filter((name) => formatOf(name) === "hcl");
  }
  if (formatOf(path) === "hcl") return [path];
  // So that a name that leads nowhere is reported.
  manifestPaths(path, cwd);
  left.push(path);
  return [];
}

/** Bytes that are not text would be lost by writing them back. */
function decoded(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new CommandFailure(`"${name}" is not UTF-8 text: it is left as it is`);
  }
}

/** Whole or not at all; behind a symbolic link, and with the mode of the file before. */
function replace(path: string, name: string, text: string): void {
  const target = realpathSync(path);
  const beside = `${target}.berth-fmt`;
  try {
    const file = openSync(beside, "w", 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    chmodSync(beside, statSync(target).mode & 0o7777);
    renameSync(beside, target);
  } catch (error) {
    rmSync(beside, { force: true });
    throw new CommandFailure(`cannot write "${name}": ${error instanceof Error ? error.message : String(error)}`);
  }
}
