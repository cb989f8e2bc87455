import { sha256Hex } from "../../base/pure/digest.ts";
import type { Assignment, ProxyFile, Running, Setup } from "./change.ts";
import { listLine, pemLines } from "./commands.ts";
import { configParts, configSections, configText, type Sections, siteSections } from "./config.ts";
import { dedicatedSection, isCommon, ownPages } from "./dedicated.ts";
import holdScript from "./hold.lua.txt";
import {
  certificateListPath,
  certificatePath,
  configPath,
  luaPath,
  mapPath,
  type MapName,
  pagePath,
} from "./layout.ts";
import { entriesOf, type Entries, httpsPort, mapFiles, mapsOf } from "./maps.ts";
import { luaString, UnsafeText } from "./quote.ts";
import { builtInPages } from "./pages.ts";
import { remembered } from "./remember.ts";
import { type AnySite, isHttp, serverWords } from "./servers.ts";
import type { Certificate, Site, Table, TcpSite } from "./table.ts";

/** All that the proxy is given for a table. */
export interface Rendered {
  /** By path. */
  files: Map<string, ProxyFile>;
  maps: Record<MapName, Entries>;
  /** What takes a load when it changes → its digest. */
  fixed: Record<string, string>;
  /** What the configuration is joined from. */
  sections: Sections;
}

interface Writable {
  table: Table;
  refused: { site: string; problem: string }[];
}

/** The table without what cannot be written, and what that is. */
export const writable = remembered((table: Table, setup: Setup): Writable => {
  const refused: Writable["refused"] = [];
  const keep = (site: string, problem: string | undefined): boolean => {
    if (problem !== undefined) refused.push({ site, problem });
    return problem === undefined;
  };
  const certificates = table.certificates.filter((one) =>
    keep(`certificate ${one.id}`, certificateProblem(one, setup)),
  );
  const checked: Table = { ...table, certificates };
  const port = httpsPort(table);
  checked.sites = table.sites.filter((site) => keep(site.id, siteProblem(site, setup, port)));
  checked.tcp = table.tcp.filter((site) => keep(site.id, tcpProblem(site, checked, setup)));
  return { table: checked, refused };
});

/** Why none of it can be written; undefined when it can. */
function problemOf(write: () => void): string | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    if (!(error instanceof UnsafeText)) throw error;
    return error.message;
  }
}

const certificateProblem = remembered(({ id, names, pem }: Certificate, setup: Setup) =>
  problemOf(() => listLine({ file: certificatePath(setup.paths, id), names }) + pemLines(pem)),
);

/** Why a site cannot be written; undefined when it can. */
export function problemOfSite(site: AnySite, table: Table, setup: Setup): string | undefined {
  return isHttp(site) ? siteProblem(site, setup, httpsPort(table)) : tcpProblem(site, table, setup);
}

const siteProblem = remembered((site: Site, setup: Setup, port: string | undefined) =>
  problemOf(() => {
    if (!isCommon(site)) dedicatedSection(site, "d0", setup);
    for (const upstream of site.upstreams) serverWords(site, upstream);
    entriesOf(site, "d0", port);
    ownPages(site);
  }),
);

function tcpProblem(site: TcpSite, table: Table, setup: Setup): string | undefined {
  return problemOf(() => {
    // Another site on its port is checked by itself.
    siteSections(site, "d0", { table: { ...table, tcp: [site] }, setup });
    for (const upstream of site.upstreams) serverWords(site, upstream);
  });
}

/** What was written for a table. */
export interface Written {
  /** As it was given; `checked` is without what cannot be written. */
  table: Table;
  checked: Writable;
  setup: Setup;
  text: Rendered;
}

/** The last text of each assignment is kept: it is what the next one is compared with. */
const last = new WeakMap<Assignment, Written>();

/** What was written last for this assignment, if that was of this very table. */
export function lastWritten({ table, assignment }: Running, setup: Setup): Written | undefined {
  const written = last.get(assignment);
  return written?.table === table && written.setup === setup ? written : undefined;
}

export function noteWritten(assignment: Assignment, written: Written): Written {
  last.set(assignment, written);
  return written;
}

export function write(running: Running, setup: Setup): Written {
  const known = lastWritten(running, setup);
  if (known !== undefined) return known;
  const { table, assignment } = running;
  const checked = writable(table, setup);
  return noteWritten(assignment, { table, checked, setup, text: rendered(assignment, checked.table, setup) });
}

function rendered(assignment: Assignment, table: Table, setup: Setup): Rendered {
  const { paths } = setup;
  const parts = configParts(table, assignment, setup);
  const maps = mapsOf(table, assignment);
  const scripts = scriptFiles(setup);
  const loadedFiles = [...scripts, ...pageFiles(table, assignment, setup)];
  const files = new Map<string, ProxyFile>();
  const put = (path: string, content: string, mode: ProxyFile["mode"] = 0o644) =>
    files.set(path, { path, content, mode });
  for (const [path, content] of [...loadedFiles, ...mapFiles(maps, paths)]) put(path, content);
  // The word is for the owner alone.
  for (const [path, content] of scripts) put(path, content, 0o600);
  for (const { id, pem } of table.certificates) put(certificatePath(paths, id), pemLines(pem), 0o600);
  const list = table.certificates.map(({ id, names }) => listLine({ file: certificatePath(paths, id), names }));
  put(certificateListPath(paths), list.join(""));
  // Holds the hashes of passwords.
  const sections = configSections(parts, assignment.poolSize);
  put(configPath(paths), configText(sections), 0o600);
  const fixed = [...parts.fixed, ...loadedFiles].map(([name, text]) => [name, sha256Hex(text)]);
  return { files, maps, fixed: Object.fromEntries(fixed), sections };
}

function scriptFiles({ paths, logTo }: Setup): [string, string][] {
  const map = (name: MapName) => luaString(mapPath(paths, name), "path");
  const word = logTo?.word;
  const texts = {
    ROUTES_MAP: map("routes"),
    NAMES_MAP: map("names"),
    PARTED_MAP: map("parted"),
    HOLD_MAP: map("hold"),
    RECEIVER_WORD: word === undefined ? "nil" : luaString(word, "word of the log"),
  };
  const script = Object.entries(texts).reduce((text, [name, value]) => text.replace(name, () => value), holdScript);
  return [[luaPath(paths), script]];
}

function pageFiles(table: Table, { backends }: Assignment, { paths }: Setup): [string, string][] {
  const own = table.sites.flatMap((site) =>
    ownPages(site).map(
      ([status, html]) => [pagePath(paths, `${backends[site.id]}-${status}`), html] satisfies [string, string],
    ),
  );
  return [...builtInPages().map(([name, html]) => [pagePath(paths, name), html] satisfies [string, string]), ...own];
}
