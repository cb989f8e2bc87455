import type { AccessLine } from "../access-line.ts";
import type { Running } from "../change.ts";
import { type AnySite, isHttp } from "../servers.ts";
import type { SiteOptions } from "../table.ts";

/** Where a request went. */
export interface Place {
  /** Id of the site: `<scope>/<name>` of the ingress. */
  site: string;
  /** Container id and replica; undefined when no replica answered. */
  answeredBy: { upstream: string; replica: string } | undefined;
  accessLog: SiteOptions["accessLog"];
}

/** Finds the ingress and the replica of a line by the names that the proxy has for them. */
interface Attribution {
  /** What the proxy has now. Replicas that left are remembered for a while: their last answers come after they left. */
  learn(running: Running | undefined): void;
  /** Undefined for a request that no ingress serves. */
  find(line: Pick<AccessLine, "backend" | "server">): Place | undefined;
}

type Answering = { site: string; upstream: string; replica: string };

/** `leftMax` replicas that left are remembered. */
export function createAttribution(leftMax: number): Attribution {
  let known: Running | undefined;
  const modes = new Map<string, SiteOptions["accessLog"]>();
  const sites = new Map<string, string>();
  const servers = new Map<string, Answering>();

  function learnSite(site: AnySite, { backends, servers: assigned }: Running["assignment"]): number {
    const backend = backends[site.id];
    if (backend === undefined || !isHttp(site)) return 0;
    sites.set(backend, site.id);
    modes.set(site.id, site.options.accessLog);
    let count = 0;
    for (const { id, replica } of site.upstreams) {
      const server = assigned[backend]?.[id]?.name;
      if (server === undefined) continue;
      count += 1;
      // Again at the end: those in use are the last to be forgotten.
      servers.delete(server);
      servers.set(server, { site: site.id, upstream: id, replica });
    }
    return count;
  }

  return {
    learn(running) {
      if (running === undefined || running === known) return;
      known = running;
      sites.clear();
      modes.clear();
      let inUse = 0;
      for (const site of running.table.sites) inUse += learnSite(site, running.assignment);
      for (const server of servers.keys()) {
        if (servers.size <= inUse + leftMax) break;
        servers.delete(server);
      }
    },
    find({ backend, server }) {
      const answering = server === undefined ? undefined : servers.get(server);
      const site = answering?.site ?? (backend === undefined ? undefined : sites.get(backend));
      if (site === undefined) return undefined;
      const answeredBy = answering && { upstream: answering.upstream, replica: answering.replica };
      return { site, answeredBy, accessLog: modes.get(site) ?? "off" };
    },
  };
}
