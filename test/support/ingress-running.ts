import { nothingAssigned } from "../../src/ingress/core/assign.ts";
import type { Running } from "../../src/ingress/core/change.ts";
import type { Site } from "../../src/ingress/core/table.ts";
import { table } from "./ingress-table.ts";

/** A proxy that serves the sites: the first is backend p1, and so on; servers are s1, s2, … over all of them. */
export function runningWith(sites: Site[], firstServer = 1): Running {
  let next = firstServer;
  const backends: Record<string, string> = {};
  const servers: Running["assignment"]["servers"] = {};
  sites.forEach((site, index) => {
    const backend = `p${index + 1}`;
    backends[site.id] = backend;
    servers[backend] = Object.fromEntries(site.upstreams.map(({ id }) => [id, { name: `s${next++}`, words: "" }]));
  });
  return { table: table(sites), assignment: { ...nothingAssigned, backends, servers } };
}
