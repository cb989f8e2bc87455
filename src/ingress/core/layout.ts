import type { Paths } from "./change.ts";
import { plainName, word } from "./quote.ts";

/** Names of the maps, which change without a load. */
export const mapNames = [
  "routes",
  "hsts",
  "server-timeout",
  "tunnel-timeout",
  "hold",
  "challenges",
  "names",
  "parted",
] as const;
export type MapName = (typeof mapNames)[number];

export const configPath = (paths: Paths) => `${paths.folder}/haproxy.cfg`;
export const luaPath = (paths: Paths) => `${paths.folder}/hold.lua`;
export const certificateListPath = (paths: Paths) => `${paths.folder}/crt.list`;
export const mapPath = (paths: Paths, map: MapName) => `${paths.folder}/maps/${map}.map`;
export const pagePath = (paths: Paths, page: string) => `${paths.folder}/pages/${page}.html`;
export const certificatePath = (paths: Paths, id: string) =>
  `${paths.folder}/certs/${plainName(id, "id of a certificate")}.pem`;

/** A path inside of an argument list, where a comma or a bracket would end it. */
export function argumentPath(path: string): string {
  if (!/^\/[A-Za-z0-9._/-]+$/.test(path)) throw new Error(`the folder of the proxy has signs it cannot have: ${path}`);
  return path;
}

export const pathWord = (path: string) => word(argumentPath(path), "path");

/** How long a connection of a visitor may be idle between two requests. */
export const keepAliveMs = 10_000;
