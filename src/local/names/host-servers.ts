import { readFileSync } from "node:fs";
import { isIpv4 } from "../../base/pure/ip.ts";

/** Name servers and search domains of the machine, as Docker would give them to a container. */
export interface HostServers {
  /** IPv4 addresses that containers can ask. */
  servers: string[];
  search: string[];
}

const resolverFile = "/etc/resolv.conf";
/** What the stub of systemd-resolved asks. */
const behindStub = "/run/systemd/resolve/resolv.conf";
const stub = "127.0.0.53";
const dockerFile = "/etc/docker/daemon.json";

/** The setting `dns` of Docker comes first, as for Docker. Without an address that containers can ask: what is wrong. */
export function hostServers(read: (path: string) => string = readText): HostServers | { problem: string } {
  const found = resolverOf(read(resolverFile));
  const { servers, search } = found.servers.join() === stub ? resolverOf(read(behindStub)) : found;
  const all = dockerServers(read(dockerFile)) ?? servers;
  if (all.some((address) => address.startsWith("127."))) {
    return { problem: `this machine asks ${all.join(" and ")}, which containers cannot reach` };
  }
  const usable = all.filter(isIpv4);
  if (usable.length === 0) return { problem: `${resolverFile} names no name server with an IPv4 address` };
  return { servers: usable, search };
}

function dockerServers(text: string): string[] | undefined {
  try {
    const { dns } = JSON.parse(text) as { dns?: unknown };
    return Array.isArray(dns) && dns.length > 0 ? dns.map(String) : undefined;
  } catch {
    return undefined;
  }
}

/** The last line with search domains counts, as in resolv.conf(5). */
function resolverOf(text: string): HostServers {
  const rows = text.split("\n").map((line) => line.trim().split(/\s+/));
  const servers = rows.flatMap(([word, address = ""]) => (word === "nameserver" && address !== "" ? [address] : []));
  const [, ...search] = rows.findLast(([word]) => word === "search" || word === "domain") ?? [];
  return { servers, search: search.map((domain) => domain.toLowerCase().replace(/\.$/, "")).filter(Boolean) };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
