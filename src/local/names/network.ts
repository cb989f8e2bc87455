import { getJson, record } from "../probe.ts";

/** The platform's network as Docker knows it. */
export interface NamesNetwork {
  gateway: string;
  subnets: string[];
  bridge: string;
  /** Addresses of containers. */
  taken: string[];
}

/** Undefined where there is no such network, or it has no IPv4 gateway. Rejects where Docker does not answer. */
export async function readNetwork(dockerHost: string, name: string): Promise<NamesNetwork | undefined> {
  const found = await getJson(dockerHost, `/networks/${name}`);
  if (found.Name !== name) return undefined;
  const configs = record(found.IPAM).Config;
  const rows = (Array.isArray(configs) ? configs : []).map(record);
  const subnets = rows.map(({ Subnet }) => String(Subnet ?? "")).filter((subnet) => !subnet.includes(":"));
  const gateway = rows.map(({ Gateway }) => String(Gateway ?? "")).find((address) => /^[\d.]+$/.test(address));
  if (gateway === undefined || subnets.length === 0) return undefined;
  const named = record(found.Options)["com.docker.network.bridge.name"];
  const taken = Object.values(record(found.Containers)).map(
    (one) => String(record(one).IPv4Address ?? "").split("/")[0],
  );
  return {
    gateway,
    subnets,
    bridge: typeof named === "string" ? named : `br-${String(found.Id ?? "").slice(0, 12)}`,
    taken: [gateway, ...taken.filter((address) => address !== undefined)],
  };
}
