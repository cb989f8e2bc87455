import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { hostKey, hostOk } from "../../base/pure/hosts.ts";
import type { SourceTree } from "../../orchestration/core/build/runtime.ts";
import { identityProblems } from "../../orchestration/core/identity.ts";
import { manifestPaths } from "../manifests/files.ts";
import { formatOfExtension } from "../manifests/source.ts";
import { usageFailure } from "../basics/failures.ts";
import { createSent, type RuleLimits } from "./sent.ts";

/** Where the manifests of a folder are, the first that is there. */
const places = [...[...formatOfExtension.keys()].map((extension) => `berth.${extension}`), ".berth", ".voodu"];

/** The places in the words of a help text. */
export const placesInWords = `berth.yaml (or ${[...formatOfExtension.keys()].slice(1).join(", ")}), or a folder .berth/ or .voodu/ here`;

/** That place, where there is one. */
export function placeHere(folder: string): string[] {
  return places.filter((place) => existsSync(join(folder, place)) && !isEmptyForeign(folder, place)).slice(0, 1);
}

/** Where a Procfile says it all, the other client's folder holds its settings alone. */
function isEmptyForeign(folder: string, place: string): boolean {
  return place === ".voodu" && manifestPaths(place, folder, { mayBeEmpty: true }).length === 0;
}

/** A longer file is nothing that a person wrote. */
const textBytesMax = 1024 * 1024;

/**
 * A folder on the disk, to be looked at. `procfile` is read as its Procfile. What a build does not get is not there.
 * Nothing outside of the folder is read, also where a link leads there, except a Procfile of another name, which the
 * operator gave.
 */
export function sourceTree(root: string, rules: RuleLimits, procfile = "Procfile"): SourceTree {
  const path = (file: string) => join(root, file === "Procfile" ? procfile : file);
  const isSent = createSent(root, rules);
  const isThere = (file: string) => existsSync(path(file)) && isSent(file);
  const isInside = (file: string) => {
    const real = realpathSync(path(file));
    const base = realpathSync(root);
    return real === base || real.startsWith(`${base}/`) || (file === "Procfile" && procfile !== file);
  };
  const isText = (file: string) => {
    const at = statSync(path(file));
    return at.isFile() && at.size <= textBytesMax && isInside(file);
  };
  return {
    has: isThere,
    read: (file) => (isThere(file) && isText(file) ? readFileSync(path(file), "utf8") : undefined),
    list(folder) {
      if (!isThere(folder) || !isInside(folder) || !statSync(path(folder)).isDirectory()) return [];
      const items = readdirSync(path(folder), { withFileTypes: true });
      const within = folder === "" ? "" : `${folder.replace(/\/$/, "")}/`;
      return items
        .map((item) => (item.isDirectory() ? `${item.name}/` : item.name))
        .filter((name) => isSent(within + name))
        .toSorted();
    },
  };
}

/** `SCOPE/NAME` of an app. Throws a usage failure. */
export function appIdentity(text: string): { scope: string; name: string } {
  const [scope = "", name = "", ...more] = text.split("/");
  if (name === "" || more.length > 0) throw usageFailure(`"${text}" is not SCOPE/NAME, as in shop/web`);
  const [problem] = identityProblems("app", scope, name);
  if (problem !== undefined) throw usageFailure(`${problem.path}: ${problem.message}`);
  return { scope, name };
}

/** A domain as it is compared; empty stays empty. Throws a usage failure. */
export function appHost(text: string): string {
  const host = hostKey(text);
  if (host !== "" && (!hostOk(host) || host.startsWith("*"))) throw usageFailure(`"${text}" is not a domain`);
  return host;
}

/** The name of a folder as a scope. */
export function scopeOfFolder(folder: string): string {
  const text = folder.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return (
    text
      .replaceAll(/^-+/g, "")
      .slice(0, 40)
      .replace(/(?<!-)-+$/, "") || "app"
  );
}
