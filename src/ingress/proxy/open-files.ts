import { readFile } from "node:fs/promises";

/** Files that the proxy has open beside the two of each connection: listeners, replicas that wait, its own. */
const reserve = 1_000;

/**
 * Connections of visitors at one time that the machine's limit of open files allows, at most `wanted`. Each takes two:
 * one to the visitor, one to the replica.
 */
export async function connectionsAllowed(wanted: number): Promise<number> {
  return Math.max(100, Math.min(wanted, Math.floor(((await hardLimit()) - reserve) / 2.2)));
}

/** Files that a container of the proxy may have open. More than the machine gives would keep it from starting. */
export async function filesAllowed(connections: number): Promise<number> {
  return Math.min(Math.ceil(connections * 2.2) + reserve, await hardLimit());
}

async function hardLimit(): Promise<number> {
  const text = await readFile("/proc/self/limits", "utf8").catch(() => "");
  return hardLimitOf(text) ?? Number.POSITIVE_INFINITY;
}

/** Of the kernel's table of limits; undefined where there is none. */
function hardLimitOf(text: string): number | undefined {
  const [, hard] = /^Max open files\s+\S+\s+(\S+)/m.exec(text) ?? [];
  return hard === undefined || hard === "unlimited" ? undefined : Number(hard);
}
