import type { PodRecord } from "../../src/orchestration/api/pods.ts";
import { PluginError, usage } from "../kit.ts";
import { type Cluster, tool } from "./cluster.ts";

/** Exit code of a backup that `backups:cancel` has ended: see `cancel` of backups.sh. */
export const cancelledCode = 143;

/** What the error of such a run says, and how its record is known as one. */
export const cancelledText = "was cancelled by backups:cancel";

/** A backup as its folder is called, and how large it is. */
export interface Backup {
  id: string;
  bytes: number;
  /** What it holds: databases, or a count of keys. */
  holds: string;
}

/** Any pod that runs: all of them share the volume of the backups. */
export function anyPod(cluster: Cluster): PodRecord {
  const running = cluster.pods.filter((pod) => pod.running);
  const pod = running.find(({ replica_id }) => replica_id === String(cluster.primary)) ?? running[0];
  if (pod === undefined) throw new PluginError("no pod runs, and the backups are reached through one; start one first");
  return pod;
}

/** Newest first. */
export async function listBackups(cluster: Cluster): Promise<Backup[]> {
  const text = await tool(cluster, { pod: anyPod(cluster), args: ["list_backups"] });
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [id = "", bytes = "0", ...holds] = line.split(" ");
      return { id, bytes: Number(bytes), holds: holds.join(" ") };
    });
}

/** The id in this form only: it becomes the name of a folder. */
export function backupId(word: string | undefined): string {
  if (word === undefined) throw usage("say which backup; see: backups");
  if (/^\d{8}T\d{6}Z$/.test(word)) return word;
  throw usage(`"${word}" is not a backup; see: backups`);
}

/** Ids of those that do not stay; `backups` are newest first, and the first one always stays. */
export function outdatedBackups(
  backups: readonly Backup[],
  { keep, maxAgeMs, now }: { keep: number; maxAgeMs: number; now: number },
): string[] {
  return backups.filter(({ id }, at) => at > 0 && (at >= keep || now - timeOf(id) > maxAgeMs)).map(({ id }) => id);
}

/** `20260102T030405Z` is when it was begun. */
function timeOf(id: string): number {
  return Date.parse(id.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}
