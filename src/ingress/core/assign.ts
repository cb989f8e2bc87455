import type { AssignedServer, Assignment } from "./change.ts";
import { isCommon } from "./dedicated.ts";
import { type AnySite, identityWords, isHttp, upstreamsOf } from "./servers.ts";
import type { Table } from "./table.ts";

export const nothingAssigned: Assignment = {
  backends: {},
  servers: {},
  nextServer: 1,
  nextDedicated: 1,
  poolSize: 0,
  used: [],
  loaded: {},
};

const isPool = (backend: string) => /^p\d+$/.test(backend);
const poolNumber = (backend: string) => Number(backend.slice(1));

/** What a site's backend is of: the pool, its own section, or a port of its own. */
function kindOf(site: AnySite): "p" | "d" | "t" {
  if (!isHttp(site)) return "t";
  return isCommon(site) ? "p" : "d";
}

/**
 * Names for everything in the table. What had a name keeps it; a name that is given up is not given again while the
 * process runs, so that its figures and its last connections stay its own.
 */
export function assign(before: Assignment, table: Table): Assignment {
  const after: Assignment = { ...before, backends: {}, servers: {} };
  const sites: AnySite[] = [...table.sites, ...table.tcp];
  const waiting = sites.filter((site) => {
    const had = before.backends[site.id];
    if (had === undefined || !had.startsWith(kindOf(site))) return true;
    after.backends[site.id] = had;
    return false;
  });
  const taken = new Set([...Object.values(before.backends), ...before.used]);
  let next = 1;
  for (const site of waiting) {
    if (kindOf(site) === "p") {
      while (taken.has(`p${next}`)) next++;
      after.backends[site.id] = `p${next}`;
      taken.add(`p${next}`);
    } else after.backends[site.id] = `${kindOf(site)}${after.nextDedicated++}`;
  }
  const inUse = new Set(Object.values(after.backends));
  const wereUsed = new Set([...before.used, ...Object.values(before.backends).filter(isPool)]);
  after.used = [...wereUsed].filter((backend) => !inUse.has(backend));
  for (const site of sites) assignServers(site, before, after);
  return after;
}

/** The same names for a table in which only the replicas of these sites are others. */
export function reassign(before: Assignment, sites: readonly AnySite[]): Assignment {
  const after: Assignment = { ...before, servers: { ...before.servers } };
  for (const site of sites) assignServers(site, before, after);
  return after;
}

/** Site → servers that were assigned to it and would be assigned to it again. */
const settled = new WeakMap<AnySite, Assignment["servers"][string]>();

function assignServers(site: AnySite, before: Assignment, after: Assignment): void {
  const backend = after.backends[site.id];
  if (backend === undefined) return;
  const had = before.servers[backend];
  if (had !== undefined && settled.get(site) === had) {
    after.servers[backend] = had;
    return;
  }
  const servers: Record<string, AssignedServer> = {};
  for (const [id, upstream] of upstreamsOf(site)) {
    const words = identityWords(site, upstream);
    const known = had?.[id];
    if (known?.words === words) servers[id] = known;
    else if (!upstream.isLeaving) servers[id] = { name: `s${after.nextServer++}`, words };
  }
  const isSame = had !== undefined && Bun.deepEquals(had, servers);
  after.servers[backend] = isSame ? had : servers;
  settled.set(site, after.servers[backend]);
}

/** Whether every pool backend that is assigned exists in the process. */
export function fitsPool({ backends, poolSize }: Assignment): boolean {
  return Object.values(backends).every((backend) => !isPool(backend) || poolNumber(backend) <= poolSize);
}

/** Each takes about 10 KB of the proxy's memory. */
const moreSpareMax = 256;

/** The size that a load gives the pool: what is in use, and spare ones, more of them where there are many sites. */
export function pooled(assignment: Assignment, spare: number): Assignment {
  const numbers = Object.values(assignment.backends).filter(isPool).map(poolNumber);
  const wanted = numbers.length + Math.max(spare, Math.min(moreSpareMax, Math.ceil(numbers.length / 8)));
  return { ...assignment, poolSize: Math.max(wanted, ...numbers), used: [] };
}
