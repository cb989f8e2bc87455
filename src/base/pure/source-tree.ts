import { canonicalJson, sha256Hex } from "./digest.ts";

/** A file, link or folder of a folder that an image is built from. */
export interface ContextEntry {
  /** Below the folder, with "/" between its parts and none at its end. */
  path: string;
  kind: "file" | "link" | "folder";
  /** Permission bits, as `plainMode` gives them; of a link 0o777. */
  mode: number;
  /** sha256 hex of the content of a file, or of the target of a link; empty for a folder. */
  digest: string;
}

/**
 * Permission bits as they are packed. A group that may write where others may not is mostly the umask of the machine (002 in
 * place of 022): without it, the same commit would be another folder on another machine.
 */
export function plainMode(mode: number): number {
  const bits = mode & 0o7777;
  return (bits & 0o002) === 0 ? bits & ~0o020 : bits;
}

const folderMode = 0o755;

/** The entries without the folders that are there through what is in them: what remains is what an archive needs. */
export function neededEntries<E extends Pick<ContextEntry, "path" | "kind" | "mode">>(entries: readonly E[]): E[] {
  const parents = new Set<string>();
  for (const { path } of entries) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const parent = path.slice(0, end);
      if (parents.has(parent)) break;
      parents.add(parent);
    }
  }
  return entries.filter(({ path, kind, mode }) => kind !== "folder" || mode !== folderMode || !parents.has(path));
}

/**
 * What a folder is called: sha256 hex over its sorted entries. Times and owners are not part of it, so a fresh checkout,
 * another machine and another user give the same. A usual mode (755 and 644) is recorded by `executable` alone, as it was
 * before modes were kept: folders of then keep their digest.
 */
export function contextDigest(entries: readonly ContextEntry[]): string {
  const sorted = neededEntries(entries).sort((a, b) => (a.path < b.path ? -1 : 1));
  return sha256Hex(canonicalJson(sorted.map(digestRow)));
}

function digestRow({ path, kind, mode, digest }: ContextEntry): (string | boolean | number)[] {
  const executable = kind === "file" && (mode & 0o111) !== 0;
  const usual = kind === "link" ? mode : kind === "folder" ? folderMode : executable ? 0o755 : 0o644;
  return [path, kind, executable, digest, ...(mode === usual ? [] : [mode])];
}

/** Why a path cannot be in a folder that is built from; undefined when it can. */
export function pathProblem(path: string): string | undefined {
  if (path === "" || path.startsWith("/")) return "is not a path below the folder";
  if (path.split("/").some((part) => part === "" || part === "." || part === "..")) return "leads out of the folder";
  if (/[\x00-\x1f\x7f\\]/.test(path)) return "has a control character or a backslash in its name";
  return path.length > pathLengthMax ? `is longer than ${pathLengthMax} characters` : undefined;
}

const pathLengthMax = 1_024;

/** The path of a folder without the slashes at its end. */
export function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (path.endsWith("/", end)) end -= 1;
  return path.slice(0, end);
}

/** Why a link cannot be in such a folder; undefined when it can: it leads to a place in it. */
export function linkProblem(path: string, target: string): string | undefined {
  if (target === "" || target.startsWith("/")) return `leads to "${target}", out of the folder`;
  const parts = path.split("/").slice(0, -1);
  for (const part of target.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return `leads to "${target}", out of the folder`;
  }
  return undefined;
}
