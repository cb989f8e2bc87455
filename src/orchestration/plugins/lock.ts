import { createHash } from "node:crypto";
import { createReadStream, lstatSync, readdirSync } from "node:fs";
import { readlink } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import { canonicalJson, sha256Hex } from "../../base/pure/digest.ts";
import type { FileRecord } from "./plugin.ts";
import { checkSize, filesOf, type TreeLimits } from "./tree.ts";

/** What lies in a package now, by path: the lock of a version. Fails `too_large`. */
export async function lockFiles(folder: string, limits: TreeLimits): Promise<Record<string, FileRecord>> {
  const files: Record<string, FileRecord> = {};
  const spent = { files: 0, bytes: 0 };
  for (const path of await filesOf(folder, limits)) {
    const full = join(folder, path);
    const marks = marksOf(full);
    spent.bytes += marks.size;
    // A hook may have brought more than the package held.
    checkSize(spent, limits);
    files[path] = { sha256: await hashOf(full), ...marks };
  }
  return files;
}

/** The records of some files of a package, as they are now. */
export async function lockOf(folder: string, paths: readonly string[]): Promise<Record<string, FileRecord>> {
  const files: Record<string, FileRecord> = {};
  for (const path of paths) {
    const marks = marksOf(join(folder, path));
    files[path] = { sha256: await hashOf(join(folder, path)), ...marks };
  }
  return files;
}

/**
 * Sha256 hex of a package that was copied: its name, and each file with its bytes and whether it can be run. Equal
 * packages have equal digests, wherever they lie.
 */
export async function packageDigest(folder: string, name: string, limits: TreeLimits): Promise<string> {
  const files = Object.entries(await lockFiles(folder, limits)).map(([path, { sha256 }]) => {
    return [path, sha256, (lstatSync(join(folder, path)).mode & 0o111) !== 0];
  });
  return sha256Hex(canonicalJson({ name, files }));
}

/** A file that is not what was locked. */
export interface Change {
  path: string;
  change: "added" | "changed" | "removed";
}

interface Comparison {
  changes: Change[];
  /** Files that were only moved or touched: their new marks. */
  moved: Record<string, FileRecord>;
}

/** Looked at in one go; in between others have their turn. */
const batch = 200;

/**
 * Compares a package with its lock. Size, time and inode are looked at, and only where one differs the file is read:
 * a few microseconds per file when nothing has changed. Files that are not in the lock are fine, unless they are
 * programs.
 */
export async function compareFiles(folder: string, files: Readonly<Record<string, FileRecord>>): Promise<Comparison> {
  const result: Comparison = { changes: [], moved: {} };
  let looked = 0;
  for (const [path, locked] of Object.entries(files)) {
    if (++looked % batch === 0) await new Promise((resolve) => setImmediate(resolve));
    const full = join(folder, path);
    const marks = marksIfThere(full);
    if (marks === undefined) result.changes.push({ path, change: "removed" });
    else if (!sameMarks(marks, locked)) {
      if (marks.size !== locked.size || (await hashOf(full)) !== locked.sha256)
        result.changes.push({ path, change: "changed" });
      else result.moved[path] = { sha256: locked.sha256, ...marks };
    }
  }
  result.changes.push(...addedPrograms(folder, files).map((path): Change => ({ path, change: "added" })));
  return result;
}

/** What would be run, or decides what is, and was not there when the package was locked. */
function addedPrograms(folder: string, files: Readonly<Record<string, FileRecord>>): string[] {
  const present = ["bin", "commands"].flatMap((sub) => entriesOf(join(folder, sub)).map((name) => `${sub}/${name}`));
  const top = entriesOf(folder).filter((name) => ["plugin.yml", "install", "uninstall"].includes(name));
  return [...top, ...present].filter((path) => files[path] === undefined && isFile(join(folder, path)));
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
}

/** Fails `conflict` with what is not as it was installed. */
export function requireUnchanged(name: string, { changes }: Comparison): void {
  if (changes.length === 0) return;
  const shown = changes.slice(0, 5).map(({ path, change }) => `${path} ${changeWords[change]}`);
  const more = changes.length > 5 ? ` and ${changes.length - 5} more` : "";
  const way = `to take the changes: berth plugins accept ${name}; or install it again, or roll it back`;
  throw new Failure("conflict", `plugin "${name}" is not what was installed: ${shown.join(", ")}${more}; ${way}`);
}

const changeWords = { added: "was added", changed: "was changed", removed: "is missing" };

type Marks = Omit<FileRecord, "sha256">;

function marksOf(path: string): Marks {
  const { size, mtimeMs, ino } = lstatSync(path);
  return { size, mtimeMs, inode: ino };
}

function marksIfThere(path: string): Marks | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : { size: found.size, mtimeMs: found.mtimeMs, inode: found.ino };
}

function sameMarks(a: Marks, b: Marks): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.inode === b.inode;
}

/** Hash of the bytes of a file, or of where a link points to. */
export async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return hash.update(`link ${await readlink(path)}`).digest("hex");
  if (!found.isFile()) return hash.update(`special ${found.mode}`).digest("hex");
  for await (const part of createReadStream(path)) hash.update(part as Uint8Array);
  return hash.digest("hex");
}
