import { canonicalJson, sha256Hex } from "./digest.ts";

/** One file or link of a folder that an image is built from. Folders are there through what is in them. */
export interface ContextEntry {
  /** Below the folder, with "/" between its parts. */
  path: string;
  kind: "file" | "link";
  executable: boolean;
  /** sha256 hex of the content of a file, or of the target of a link. */
  digest: string;
}

/**
 * What a folder is called: sha256 hex over its sorted entries. Times and owners are no part of it, so a fresh checkout,
 * another machine and another user give the same.
 */
export function contextDigest(entries: readonly ContextEntry[]): string {
  const sorted = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return sha256Hex(canonicalJson(sorted.map(({ path, kind, executable, digest }) => [path, kind, executable, digest])));
}

/** Why a path cannot be in a folder that is built from; undefined when it can. */
export function pathProblem(path: string): string | undefined {
  if (path === "" || path.startsWith("/")) return "is not a path below the folder";
  if (path.split("/").some((part) => part === "" || part === "." || part === "..")) return "leads out of the folder";
  if (/[\x00-\x1f\x7f\\]/.test(path)) return "has a control character or a backslash in its name";
  return path.length > pathLengthMax ? `is longer than ${pathLengthMax} characters` : undefined;
}

const pathLengthMax = 1_024;

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
