import { readFileSync, statSync } from "node:fs";
import { writeAtomic } from "../../base/disk/atomic-write.ts";
import type { Zone } from "./zone.ts";

/** What the server tells the name server, and the doctor. */
export interface ZoneFile {
  suffix: string;
  short: readonly string[];
  search: readonly string[];
  subnets: readonly string[];
  /** What new containers get as their name servers; none while something is wrong. */
  servers: readonly string[];
  /** Why new containers get none, and what to do. */
  problem?: { text: string; mend?: string };
}

export function writeZone(file: string, zone: ZoneFile): Promise<void> {
  return writeAtomic(file, JSON.stringify(zone), 0o600);
}

/** Undefined where there is no file, or not a whole one. */
export function readZone(file: string): ZoneFile | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as ZoneFile;
  } catch {
    return undefined;
  }
}

/** The zone as it is in the file at the time of each question. A file that is gone leaves the last one. */
export function watchZone(file: string): { current: () => Zone; isThere: () => boolean } {
  let seen = "";
  let zone: Zone = { suffix: "", short: new Set(), search: [], subnets: [] };
  const isThere = () => statSync(file, { throwIfNoEntry: false }) !== undefined;
  return {
    isThere,
    current() {
      const stat = statSync(file, { throwIfNoEntry: false });
      const version = stat === undefined ? seen : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
      if (version === seen) return zone;
      const read = readZone(file);
      if (read === undefined) return zone;
      seen = version;
      zone = { ...read, short: new Set(read.short) };
      return zone;
    },
  };
}
