import { sha256Hex } from "../../base/pure/digest.ts";
import type { Assignment, ProxyFile, Setup } from "./change.ts";
import { listLine, pemLines } from "./commands.ts";
import { configParts, configText, siteSections } from "./config.ts";
import { ownPages } from "./dedicated.ts";
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
import { type Entries, httpsPort, mapFiles, mapsOf, siteEntries } from "./maps.ts";
import { luaString, UnsafeText } from "./quote.ts";
import { builtInPages } from "./pages.ts";
import { type AnySite, isHttp, serverWords } from "./servers.ts";
import type { Table } from "./table.ts";

/** All that the proxy is given for a table. */
export interface Rendered {
  /** By path. */
  files: Map<string, ProxyFile>;
  maps: Record<MapName, Entries>;
  /** What takes a load when it changes → its digest. */
  fixed: Record<string, string>;
}

/** The table without what cannot be written, and what that is. */
export function writable(table: Table, setup: Setup): { table: Table; refused: { site: string; problem: string }[] } {
  const refused: { site: string; problem: string }[] = [];
  const keep = (id: string, check: () => void): boolean => {
    try {
      check();
      return true;
    } catch (error) {
      if (!(error instanceof UnsafeText)) throw error;
      refused.push({ site: id, problem: error.message });
      return false;
    }
  };
  const certificates = table.certificates.filter((one) =>
    keep(
      `certificate ${one.id}`,
      () => listLine({ file: certificatePath(setup.paths, one.id), names: one.names }) + pemLines(one.pem),
    ),
  );
  const checked: Table = { ...table, certificates };
  const siteOk = (site: AnySite) => keep(site.id, () => checkSite(site, checked, setup));
  checked.sites = table.sites.filter(siteOk);
  checked.tcp = table.tcp.filter(siteOk);
  return { table: checked, refused };
}

function checkSite(site: AnySite, table: Table, setup: Setup): void {
  siteSections(site, "d0", { table, setup });
  for (const upstream of site.upstreams) serverWords(site, upstream);
  if (!isHttp(site)) return;
  siteEntries(site, "d0", httpsPort(table));
  ownPages(site);
}

export function render(table: Table, assignment: Assignment, setup: Setup): Rendered {
  const { paths } = setup;
  const parts = configParts(table, assignment, setup);
  const maps = mapsOf(table, assignment);
  const loadedFiles = [...scriptFiles(setup), ...pageFiles(table, assignment, setup)];
  const files = new Map<string, ProxyFile>();
  const put = (path: string, content: string, mode: ProxyFile["mode"] = 0o644) =>
    files.set(path, { path, content, mode });
  for (const [path, content] of [...loadedFiles, ...mapFiles(maps, paths)]) put(path, content);
  for (const { id, pem } of table.certificates) put(certificatePath(paths, id), pemLines(pem), 0o600);
  const list = table.certificates.map(({ id, names }) => listLine({ file: certificatePath(paths, id), names }));
  put(certificateListPath(paths), list.join(""));
  // Holds the hashes of passwords.
  put(configPath(paths), configText(parts, assignment.poolSize), 0o600);
  const fixed = [...parts.fixed, ...loadedFiles].map(([name, text]) => [name, sha256Hex(text)]);
  return { files, maps, fixed: Object.fromEntries(fixed) };
}

function scriptFiles({ paths }: Setup): [string, string][] {
  return [[luaPath(paths), holdScript.replace("ROUTES_MAP", () => luaString(mapPath(paths, "routes"), "path"))]];
}

function pageFiles(table: Table, { backends }: Assignment, { paths }: Setup): [string, string][] {
  const own = table.sites.flatMap((site) =>
    ownPages(site).map(
      ([status, html]) => [pagePath(paths, `${backends[site.id]}-${status}`), html] satisfies [string, string],
    ),
  );
  return [...builtInPages().map(([name, html]) => [pagePath(paths, name), html] satisfies [string, string]), ...own];
}
