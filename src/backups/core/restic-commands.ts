import { Failure } from "../../base/wire/failure.ts";

/**
 * Every command of restic that berth runs on a repository, by what it does with the locks there.
 *
 * - `look`: takes no lock. It reads single files that stay the same until they are removed as a whole.
 * - `read`: takes a lock, so that no other machine removes data meanwhile. Where a lock stands in its way, such as that of a
 *   machine that burnt down while it removed data, it reads without one. If data vanishes then, the command fails: restic
 *   asks for each piece of data by its digest.
 * - `write`: takes a lock, and waits where it gets none. So does `check`: while another machine removes data, it would report
 *   faults.
 * - `unlock`: removes locks that are left over.
 */
const resticCommands = {
  cat: "look",
  list: "look",
  snapshots: "look",
  dump: "read",
  find: "read",
  ls: "read",
  restore: "read",
  stats: "read",
  backup: "write",
  check: "write",
  copy: "write",
  forget: "write",
  init: "write",
  prune: "write",
  "rebuild-index": "write",
  repair: "write",
  unlock: "unlock",
} as const;

/** What a command does with locks; one that is not in the table fails. */
export function lockingOf([verb = ""]: readonly string[]): (typeof resticCommands)[keyof typeof resticCommands] {
  const found = Object.entries(resticCommands).find(([name]) => name === verb)?.[1];
  if (found === undefined) throw new Error(`restic ${verb} is not in the table of commands`);
  return found;
}

/** The oldest restic that berth works with; older ones answer in other forms. */
export const resticMin = "0.12";

/** What newer versions of restic do, by the version that brought it. Where it is missing, berth does without. */
export const resticFeatures = {
  /** `copy --from-repo`; berth needs it to carry copies over to a new key. */
  copy: "0.14",
  /** `restore --sparse` writes runs of zeros as holes. Without it, holes are punched after the restore. */
  sparse: "0.15",
  /** `repair index`; before, `rebuild-index`. */
  repairIndex: "0.16",
  /** `restore --json` tells how far it is. Without it, bytes on the disk are counted. */
  restoreProgress: "0.16",
  /** Exit codes of their own for a missing repository, a lock and, since 0.17.1, a wrong key. Without them, texts are read. */
  exitCodes: "0.17",
} as const;

/** Whether a version of restic has a feature; one that is not known has none. */
export function hasFeature(version: string | undefined, feature: keyof typeof resticFeatures): boolean {
  return version !== undefined && isAtLeast(version, resticFeatures[feature]);
}

export function isAtLeast(version: string, oldest: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split(".").map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/** Makes the index name what is there, and nothing else. */
export const repairIndexWords = (version: string) =>
  hasFeature(version, "repairIndex") ? ["repair", "index"] : ["rebuild-index"];

/** Takes a snapshot over from another repository. Fails `unavailable` before 0.14, which names the two the other way round. */
export function takeWords(version: string, snapshot: string): string[] {
  if (hasFeature(version, "copy")) return ["copy", snapshot];
  throw new Failure("unavailable", `restic ${version} is too old to carry copies over: install 0.14 or newer`);
}

/** Writes a snapshot into a folder, and compares what it has written. `only` says which part of it. */
export function restoreWords(version: string, { snapshot, folder, only }: RestoreOrder): string[] {
  const sparse = hasFeature(version, "sparse") ? ["--sparse"] : [];
  const json = hasFeature(version, "restoreProgress") ? ["--json"] : [];
  return ["restore", snapshot, "--verify", ...sparse, ...json, "--target", folder, ...only];
}

interface RestoreOrder {
  snapshot: string;
  folder: string;
  only: readonly string[];
}

/** How a restore is watched: restic says how far it is, or what is on the disk is counted. */
export function restoreProgress(version: string, folder: string, onBytes: (bytes: number) => void) {
  if (!hasFeature(version, "restoreProgress")) return { watched: { folder, onBytes } };
  const onText = (text: string) => {
    const [, bytes] = [...text.matchAll(/^\{"message_type":"status".*"bytes_restored":(\d+)/gm)].at(-1) ?? [];
    if (bytes !== undefined) onBytes(Number(bytes));
  };
  return { onText };
}
