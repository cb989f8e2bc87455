import type { Check } from "./checks.ts";
import { bridgesIn, isOurs, readTable, routeCommand } from "./stray-routes.ts";
import { type RouteRow, routeRows } from "../base/pure/route-table.ts";
import { getJson, record } from "./probe.ts";

/** Whether connections to containers that are gone stay on this machine. */
interface StrayFacts {
  network: string;
  /** Subnets of the platform's network; none while there is no network. */
  subnets: readonly string[];
  rows: readonly RouteRow[];
}

export function checkStrays({ network, subnets, rows }: StrayFacts): Check {
  const name = "stray connections";
  const here = bridgesIn(rows, subnets);
  if (here.length === 0) return { name, status: "skip", detail: `this machine has no bridge of network "${network}"` };
  const open = here.filter((subnet) => !rows.some((row) => row.subnet === subnet && isOurs(row)));
  if (open.length === 0) {
    return { name, status: "ok", detail: `connections to containers that are gone stay here (${here.join(", ")})` };
  }
  return {
    name,
    status: "warn",
    detail: `if network "${network}" is removed, connections to ${open.join(", ")} leave this machine by its default route`,
    mend: `start the server as root, with iproute2 installed; or: ${open.map((subnet) => routeCommand("replace", subnet).join(" ")).join("; ")}`,
  };
}

/** Without a network there are no subnets. */
export async function strayFacts(dockerHost: string, network: string): Promise<StrayFacts> {
  const found: Record<string, unknown> = await getJson(dockerHost, `/networks/${network}`).catch(() => ({}));
  const configs = record(found.IPAM).Config;
  const subnets = (Array.isArray(configs) ? configs : []).map((config) => String(record(config).Subnet ?? ""));
  return { network, subnets, rows: routeRows(readTable()) };
}
