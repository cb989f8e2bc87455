import type { PodRecord } from "../../src/orchestration/api/pods.ts";
import { PluginError, usage } from "../kit.ts";
import { referenceText } from "./arguments.ts";
import { type Cluster, outputOf, type Status, type ToolCall, tool, tryTool } from "./cluster.ts";

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
  /** What a restore of it, for a check, came to. One that failed displaces no other. */
  check: "passed" | "failed" | "unchecked";
  /** When it was checked: ISO 8601. */
  checked_at?: string;
  /** Why the check failed, or why there was none. */
  reason?: string;
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
    .map(readBackup);
}

/** A line of `list_backups`. Scripts of older blocks say "ID BYTES WHAT IT HOLDS", and know of no checks. */
export function readBackup(line: string): Backup {
  if (!line.includes("\t")) {
    const [id = "", bytes = "0", ...holds] = line.split(" ");
    return { id, bytes: Number(bytes), holds: holds.join(" "), check: "unchecked" };
  }
  const [id = "", bytes = "0", verdict = "", at = "", reason = "", holds = ""] = line.split("\t");
  return {
    id,
    bytes: Number(bytes),
    holds,
    check: verdict === "passed" || verdict === "failed" ? verdict : "unchecked",
    ...(at === "" ? {} : { checked_at: at }),
    ...(reason === "" ? {} : { reason }),
  };
}

/** For lists. */
export function checkText({ check, reason }: Backup): string {
  const said = check === "unchecked" ? "not checked" : check;
  return reason === undefined ? said : `${said}: ${reason}`;
}

/** The id in this form only: it becomes the name of a folder. */
export function backupId(word: string | undefined): string {
  if (word === undefined) throw usage("say which backup; see: backups");
  if (/^\d{8}T\d{6}Z$/.test(word)) return word;
  throw usage(`"${word}" is not a backup; see: backups`);
}

/** How many backups there are, by the status of a pod, and how many of them failed their check. */
export function backupCounts(status: Pick<Status, "one"> | undefined): { backups: number; failed_backups: number } {
  const count = (key: string) => Number(status?.one(key) || "0");
  return { backups: count("backups"), failed_backups: count("failed_backups") };
}

/** The same as a line of `info`. */
export function backupsLine(status: Pick<Status, "one"> | undefined, keep: string | undefined): string {
  const { backups, failed_backups: failed } = backupCounts(status);
  const bad = failed === 0 ? "" : `, ${failed} of them failed the check`;
  return `backups: ${backups}${bad}, keep ${keep ?? "7"}`;
}

/** Runs a tool that scripts of older blocks do not have. */
export async function newerTool(cluster: Cluster, call: ToolCall): Promise<string> {
  const outcome = await tryTool(cluster, call);
  if (outcome.exitCode !== 0 && outcome.stderr.includes(`no tool "${call.args[0]}"`)) {
    throw new PluginError(
      `the pods of ${referenceText(cluster.of)} run the scripts of an older berth; apply the block again first`,
    );
  }
  return outputOf(call, outcome);
}
