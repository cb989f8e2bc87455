import { readFile } from "node:fs/promises";

/** What the proxy is to carry at one time. */
interface Wanted {
  connectionsMax: number;
  splicesMax: number;
}

/** Files that the proxy has open beside those of connections: listeners, replicas that wait, its own. */
const reserve = 1_000;
/** One to the visitor, one to the replica, and a few that are being closed. */
const perConnection = 2.2;
const perSplice = 2;
const connectionsLeast = 100;

/**
 * Connections of visitors and spliced downloads at one time that the machine's limit of open files allows. HAProxy does not
 * start where they could need more. Where files are short, there are no spliced downloads.
 */
export async function connectionsAllowed(wanted: Wanted): Promise<Wanted> {
  return allowedBy(await hardLimit(), wanted);
}

export function allowedBy(files: number, wanted: Wanted): Wanted {
  const all = wanted.connectionsMax * perConnection + wanted.splicesMax * perSplice + reserve;
  if (files >= all) return wanted;
  const connections = Math.floor((files - reserve) / perConnection);
  return { connectionsMax: Math.max(connectionsLeast, Math.min(wanted.connectionsMax, connections)), splicesMax: 0 };
}

/** Files that a container of the proxy may have open. More than the machine gives would keep it from starting. */
export async function filesAllowed({ connectionsMax, splicesMax }: Wanted): Promise<number> {
  const wanted = Math.ceil(connectionsMax * perConnection) + splicesMax * perSplice + reserve;
  return Math.min(wanted, await hardLimit());
}

async function hardLimit(): Promise<number> {
  const text = await readFile("/proc/self/limits", "utf8").catch(() => "");
  return hardLimitOf(text) ?? Number.POSITIVE_INFINITY;
}

/** Reads the kernel's table of limits; undefined where there is none. */
function hardLimitOf(text: string): number | undefined {
  const [, hard] = /^Max open files\s+\S+\s+(\S+)/m.exec(text) ?? [];
  return hard === undefined || hard === "unlimited" ? undefined : Number(hard);
}
