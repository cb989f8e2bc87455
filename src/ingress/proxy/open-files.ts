import { readFile } from "node:fs/promises";

/** Files that the proxy has open beside the two of each connection: listeners, replicas that wait, its own. */
const reserve = 1_000;

/**
 * Connections of visitors at one time that the machine's limit of open files allows, at most `wanted`. Each takes two:
 * one to the visitor, one to the replica.
 */
export async function connectionsAllowed(wanted: number): Promise<number> {
  const hard = hardLimitOf(await readFile("/proc/self/limits", "utf8").catch(() => ""));
  return Math.max(100, Math.min(wanted, Math.floor(((hard ?? Number.POSITIVE_INFINITY) - reserve) / 2.2)));
}

/** Of the kernel's table of limits; undefined where there is none. */
export function hardLimitOf(text: string): number | undefined {
  const [, hard] = /^Max open files\s+\S+\s+(\S+)/m.exec(text) ?? [];
  return hard === undefined || hard === "unlimited" ? undefined : Number(hard);
}
