import type { Check } from "./checks.ts";
import { getJson, record } from "./probe.ts";
import { isServing } from "./names/process.ts";
import { readZone, type ZoneFile } from "./names/zone-file.ts";
import type { Layout } from "../base/disk/layout.ts";
import { networkLimits } from "../config/network-limits.ts";

interface NamesFacts {
  /** Undefined where no server has looked at the network yet. */
  zone: ZoneFile | undefined;
  isUp: boolean;
  /** Running containers that ask name servers which the machine does not have any more. */
  stale: readonly string[];
}

/** Whether names of services stay on this machine while they do not run. */
export function checkNames({ zone, isUp, stale }: NamesFacts): Check {
  const name = "names of services";
  if (zone === undefined) return { name, status: "skip", detail: "no server has looked at the network yet" };
  const { problem, servers } = zone;
  if (problem !== undefined) {
    const detail = `while a service does not run, its name may be asked of other name servers: ${problem.text}`;
    return { name, status: "warn", detail, mend: problem.mend };
  }
  const [address, ...others] = servers;
  if (address !== undefined && isUp && stale.length > 0) {
    const which = stale.slice(0, shownMax).join(", ") + (stale.length > shownMax ? ", …" : "");
    const detail = `the name servers of this machine changed, and ${which} still ask the old ones`;
    return { name, status: "warn", detail, mend: "berth restart these apps" };
  }
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

export async function namesFacts(
  { zone: zoneFile, namesPid: pidFile }: Pick<Layout, "zone" | "namesPid">,
  dockerHost: string,
): Promise<NamesFacts> {
  const zone = readZone(zoneFile);
  const [gateway = "", ...others] = zone?.servers ?? [];
  const isUp = isServing({ pidFile, zoneFile }, `${gateway}:${networkLimits.names.port}`);
  const stale = gateway === "" ? [] : await staleContainers(dockerHost, gateway, others).catch(() => []);
  return { zone, isUp, stale };
}

const shownMax = 5;
const containersMax = 200;

async function staleContainers(dockerHost: string, gateway: string, others: readonly string[]): Promise<string[]> {
  const rows = await getJson(dockerHost, `/containers/json?limit=${containersMax}`);
  const ids = Object.values(rows).map((row) => String(record(row).Id));
  const found = await Promise.all(
    ids.map((id) => getJson(dockerHost, `/containers/${id}/json`).catch((): Record<string, unknown> => ({}))),
  );
  return found.filter((one) => isStale(one, gateway, others)).map(({ Name }) => String(Name).replace(/^\//, ""));
}

/** Whether a container, as Docker describes it, has our name server, and behind it others than a new one would get. */
export function isStale({ HostConfig }: Record<string, unknown>, gateway: string, others: readonly string[]): boolean {
  const { Dns: dns } = record(HostConfig);
  if (!Array.isArray(dns) || dns[0] !== gateway) return false;
  return dns.slice(1).join() !== others.join();
}
