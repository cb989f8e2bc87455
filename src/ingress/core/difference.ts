import type { Assignment, Command, Running, ServerName, Setup } from "./change.ts";
import type { Rendered } from "./render.ts";
import { certificateListPath, certificatePath, mapNames, mapPath } from "./layout.ts";
import type { Entries } from "./maps.ts";
import { type AnySite, connectionsOf, serverWords, upstreamsOf } from "./servers.ts";
import type { Certificate, Table, Upstream } from "./table.ts";

/** More entries than this go as one step that is complete or not at all. */
const singleEntriesMax = 256;

/** Bytes of entries in one command; the proxy reads a command into one buffer. */
const fillBytesMax = 12 * 1024;

/** From what the proxy has to what it should have. */
export interface Step {
  running: Running;
  table: Table;
  old: Rendered;
  assignment: Assignment;
  text: Rendered;
  setup: Setup;
}

interface Placed {
  name: ServerName;
  site: AnySite;
  upstream: Upstream;
}

const sitesOf = ({ sites, tcp }: Table): AnySite[] => [...sites, ...tcp];

/** As far as servers need it. */
type ServerStep = Pick<Step, "running" | "table" | "assignment">;

/** Sites whose servers are the same before and after: the very same objects. */
function untouched({ running, table, assignment }: ServerStep): Set<AnySite> {
  const had = new Set(sitesOf(running.table));
  const serversOf = ({ backends, servers }: Assignment, { id }: AnySite) => servers[backends[id] ?? ""];
  const isSame = (site: AnySite) =>
    had.has(site) &&
    running.assignment.backends[site.id] === assignment.backends[site.id] &&
    serversOf(running.assignment, site) === serversOf(assignment, site);
  return new Set(sitesOf(table).filter(isSame));
}

/** Every server of an assignment, by `backend/server`, but for those of the sites in `but`. */
function placed(table: Table, { backends, servers }: Assignment, but: ReadonlySet<AnySite>): Map<string, Placed> {
  const all = new Map<string, Placed>();
  for (const site of sitesOf(table)) {
    if (but.has(site)) continue;
    const backend = backends[site.id];
    if (backend === undefined) continue;
    for (const [id, upstream] of upstreamsOf(site)) {
      const server = servers[backend]?.[id];
      if (server === undefined) continue;
      all.set(`${backend}/${server.name}`, { name: { backend, server: server.name }, site, upstream });
    }
  }
  return all;
}

/** Servers that come, change and go. */
export function serverCommands(step: ServerStep): { entering: Command[]; leaving: ServerName[] } {
  const same = untouched(step);
  const before = placed(step.running.table, step.running.assignment, same);
  const after = placed(step.table, step.assignment, same);
  const entering: Command[] = [];
  const leaving: ServerName[] = [];
  for (const [key, now] of after) {
    const was = before.get(key);
    if (was === undefined) {
      entering.push(...entry(now));
      continue;
    }
    entering.push(...adjust(was, now));
    if (now.upstream.isLeaving && !was.upstream.isLeaving) leaving.push(now.name);
  }
  for (const [key, was] of before) if (!after.has(key)) leaving.push(was.name);
  return { entering, leaving };
}

function adjust(was: Placed, now: Placed): Command[] {
  const commands: Command[] = [];
  const connections = connectionsOf(now.site);
  if (was.upstream.weight !== now.upstream.weight)
    commands.push({ kind: "set-weight", weight: now.upstream.weight, ...now.name });
  if (connectionsOf(was.site) !== connections) commands.push({ kind: "set-server-limit", connections, ...now.name });
  // One that leaves is deleted as soon as it is idle.
  if (was.upstream.isLeaving && !now.upstream.isLeaving) commands.push(...entry(now));
  return commands;
}

/** Adding what is there already changes nothing. */
function entry({ site, upstream, name }: Placed): Command[] {
  return [
    { kind: "add-server", words: serverWords(site, upstream), ...name },
    { kind: "enable-server", ...name },
  ];
}

/** The routes come last, so that what they need is there. */
export function mapCommands(step: Step): Command[] {
  const order = [...mapNames].sort((a, b) => Number(a === "routes") - Number(b === "routes"));
  return order.flatMap((name) => oneMap(mapPath(step.setup.paths, name), step.old.maps[name], step.text.maps[name]));
}

function oneMap(map: string, before: Entries, after: Entries): Command[] {
  const commands: Command[] = [];
  for (const [key, value] of after) {
    const was = before.get(key);
    if (was !== value) commands.push({ kind: was === undefined ? "add-map" : "set-map", map, key, value });
  }
  for (const key of before.keys()) if (!after.has(key)) commands.push({ kind: "delete-map", map, key });
  return commands.length > singleEntriesMax && commands.length > after.size / 4 ? wholeMap(map, after) : commands;
}

function wholeMap(map: string, entries: Entries): Command[] {
  const fills: Command[] = [];
  let chunk: { key: string; value: string }[] = [];
  let bytes = 0;
  for (const [key, value] of entries) {
    const length = key.length + value.length + 2;
    if (bytes + length > fillBytesMax && chunk.length > 0) {
      fills.push({ kind: "fill-map", map, entries: chunk });
      chunk = [];
      bytes = 0;
    }
    chunk.push({ key, value });
    bytes += length;
  }
  if (chunk.length > 0) fills.push({ kind: "fill-map", map, entries: chunk });
  return [{ kind: "prepare-map", map }, ...fills, { kind: "commit-map", map }];
}

function byId(table: Table): Map<string, Certificate> {
  return new Map(table.certificates.map((one) => [one.id, one]));
}

export function certificatesToAdd({ running, table, setup: { paths } }: Step): Command[] {
  const before = byId(running.table);
  const list = certificateListPath(paths);
  return table.certificates.flatMap(({ id, names, pem }): Command[] => {
    const file = certificatePath(paths, id);
    const was = before.get(id);
    const content: Command[] = [
      { kind: "set-certificate", file, pem },
      { kind: "commit-certificate", file },
    ];
    if (was === undefined)
      return [{ kind: "new-certificate", file }, ...content, { kind: "list-certificate", list, file, names }];
    const isListed = was.names.join(" ") === names.join(" ");
    const listing: Command[] = isListed
      ? []
      : [
          { kind: "unlist-certificate", list, file },
          { kind: "list-certificate", list, file, names },
        ];
    return [...(was.pem === pem ? [] : content), ...listing];
  });
}

export function certificatesToDrop({ running, table, setup: { paths } }: Step): Command[] {
  const after = byId(table);
  const gone = running.table.certificates.filter(({ id }) => !after.has(id));
  return gone.flatMap(({ id }): Command[] => {
    const file = certificatePath(paths, id);
    return [
      { kind: "unlist-certificate", list: certificateListPath(paths), file },
      { kind: "delete-certificate", file },
    ];
  });
}
