import type { Check } from "./checks.ts";
import { isServing } from "./names/process.ts";
import { readZone, type ZoneFile } from "./names/zone-file.ts";
import type { Layout } from "../base/disk/layout.ts";
import { networkLimits } from "../config/network-limits.ts";

interface NamesFacts {
  /** Undefined where no server has looked at the network yet. */
  zone: ZoneFile | undefined;
  isUp: boolean;
}

/** Whether names of services stay on this machine while they do not run. */
export function checkNames({ zone, isUp }: NamesFacts): Check {
  const name = "names of services";
  if (zone === undefined) return { name, status: "skip", detail: "no server has looked at the network yet" };
  const { problem, servers } = zone;
  if (problem !== undefined) {
    const detail = `while a service does not run, its name may be asked of other name servers: ${problem.text}`;
    return { name, status: "warn", detail, mend: problem.mend };
  }
  const [address, ...others] = servers;
  if (address !== undefined && isUp) {
    return { name, status: "ok", detail: `answered at ${address}; all other names by ${others.join(" and ")}` };
  }
  return {
    name,
    status: "warn",
    detail: "the name server of the containers does not run: lookups of containers can take 4 s",
    mend: "start the server",
  };
}

export function namesFacts({ zone: zoneFile, namesPid: pidFile }: Pick<Layout, "zone" | "namesPid">): NamesFacts {
  const zone = readZone(zoneFile);
  const address = `${zone?.servers[0] ?? ""}:${networkLimits.names.port}`;
  return { zone, isUp: isServing({ pidFile, zoneFile }, address) };
}
