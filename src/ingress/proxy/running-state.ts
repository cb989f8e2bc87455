import { access, readFile } from "node:fs/promises";
import type { Assignment, Paths, ProxyFile, Running } from "../core/change.ts";
import { certificatePath } from "../core/layout.ts";
import { remembered } from "../core/remember.ts";
import type { AnySite } from "../core/servers.ts";
import type { Certificate } from "../core/table.ts";

/**
 * What the proxy was last told, on disk, so that the next server goes on from there. It may hold hashes of passwords.
 * `id` is of this state alone.
 */
export function stateFile(paths: Paths, running: Running, id: string): ProxyFile {
  const { assignment, table } = running;
  const { sites, tcp, certificates, ...rest } = table;
  // The keys are in files of their own already.
  const listed = certificates.map(({ id, names }) => ({ id, names }));
  const texts = [
    `"format":${format}`,
    `"id":${JSON.stringify(id)}`,
    `"assignment":${objectText({ ...assignment, servers: undefined }, [`"servers":${recordText(assignment.servers)}`])}`,
    `"table":${objectText({ ...rest, certificates: listed }, [`"sites":${listText(sites)}`, `"tcp":${listText(tcp)}`])}`,
  ];
  return { path: statePath(paths), content: `{${texts.join(",")}}\n`, mode: 0o600 };
}

/** Most of a state is the same as in the one before, by the same objects, which never change. */
const kept = remembered((value: object) => JSON.stringify(value));

const listText = (list: readonly object[]): string => `[${list.map((one) => kept(one)).join(",")}]`;

const recordText = (record: Readonly<Record<string, object>>): string =>
  `{${Object.entries(record)
    .map(([key, value]) => `${JSON.stringify(key)}:${kept(value)}`)
    .join(",")}}`;

/** Fields that are objects are kept each by itself; `more` are fields that are written already. */
function objectText(fields: object, more: readonly string[]): string {
  const written = Object.entries(fields).flatMap(([key, value]) => {
    if (value === undefined) return [];
    const isObject = typeof value === "object" && value !== null;
    return [`${JSON.stringify(key)}:${isObject ? kept(value) : JSON.stringify(value)}`];
  });
  return `{${[...written, ...more].join(",")}}`;
}

/** A line behind the state `id`: these sites have other replicas now, and nothing else of `next` is another. */
export function changeText(id: string, { assignment }: Running, sites: readonly AnySite[]): string {
  const servers = sites.map((site) => {
    const backend = assignment.backends[site.id] ?? "";
    return [backend, assignment.servers[backend] ?? {}] as const;
  });
  const line: StateChange = {
    id,
    sites: [...sites],
    servers: Object.fromEntries(servers),
    nextServer: assignment.nextServer,
  };
  return `${JSON.stringify(line)}\n`;
}

interface StateChange extends Pick<Assignment, "servers" | "nextServer"> {
  id: string;
  sites: AnySite[];
}

/** Raised when older states cannot be read any more; the proxy then reloads everything, without losing a request. */
const format = 2;

/** Undefined when there is none that can be used. */
export async function readState(paths: Paths): Promise<Running | undefined> {
  try {
    const { format: found, id, assignment, table } = JSON.parse(await readFile(statePath(paths), "utf8"));
    if (found !== format) return undefined;
    const listed: Pick<Certificate, "id" | "names">[] = table.certificates;
    const certificates = await Promise.all(
      listed.map(async ({ id, names }) => ({ id, names, pem: await readFile(certificatePath(paths, id), "utf8") })),
    );
    const lines = await readFile(changesPath(paths), "utf8").catch(() => "");
    const state = changed({ assignment, table: { ...table, certificates } }, id, lines);
    return (await exists(unfinishedFile(paths).path)) ? unsure(state) : state;
  } catch {
    return undefined;
  }
}

/** Lines behind another state count nothing. What a server has half written makes the whole unsure. */
function changed(state: Running, id: string, lines: string): Running {
  const sites = new Map<string, AnySite>();
  const servers = { ...state.assignment.servers };
  let { nextServer } = state.assignment;
  for (const text of lines.split("\n").filter(Boolean)) {
    const line = readChange(text);
    if (line === undefined) return unsure(state);
    if (line.id !== id) continue;
    for (const site of line.sites) sites.set(site.id, site);
    Object.assign(servers, line.servers);
    nextServer = line.nextServer;
  }
  const latest = <S extends AnySite>(list: readonly S[]) => list.map((one) => (sites.get(one.id) ?? one) as S);
  const { table, assignment } = state;
  return {
    table: { ...table, sites: latest(table.sites), tcp: latest(table.tcp) },
    assignment: { ...assignment, servers, nextServer },
  };
}

function readChange(text: string): StateChange | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Exists while a change is sent to the proxy. A server that ends meanwhile leaves it for the next one. */
export function unfinishedFile({ folder }: Paths): ProxyFile {
  return { path: `${folder}/unfinished`, content: "", mode: 0o600 };
}

/** The state of a proxy that may have heard only a part of it: the next change loads the files. */
export function unsure({ table, assignment }: Running): Running {
  return { table, assignment: { ...assignment, loaded: {} } };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export function changesPath(paths: Paths): string {
  return `${paths.folder}/state.changes`;
}

export function statePath(paths: Paths): string {
  return `${paths.folder}/state.json`;
}
