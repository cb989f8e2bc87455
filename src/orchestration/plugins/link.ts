import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import type { PluginYml } from "../api/plugins/plugin-yml.ts";
import { canonicalJson, sha256Hex } from "../../base/pure/digest.ts";
import { pointTo, stepAside } from "./activate.ts";
import { checkNames, requireFolderVersion, requireSame, sourceOf, type Wish } from "./checks.ts";
import { lockFiles } from "./lock.ts";
import { readPackage } from "./package.ts";
import { askedBy, type Plugin } from "./plugin.ts";
import { activeOf, type VersionRecord } from "./state.ts";
import { current, type Work } from "./work.ts";

/** For development: the folder is used where it is, as it is at each moment. No hook, no lock. */
export function link(work: Work, request: Wish): Promise<Plugin> {
  return work.oneByOne(async () => {
    const { folder, yml } = await linkTarget(work, request);
    requireSame(request, linkDigest(folder, yml));
    const active = await activeOf(work.folders, yml.name);
    if (active.type === "folder") await stepAside(work, yml.name, await byHand(work, yml.name));
    await pointTo(work, yml.name, folder);
    return current(work, yml.name);
  });
}

/** The folder, links resolved, and what it calls itself. */
export async function linkTarget(work: Work, request: Wish): Promise<{ folder: string; yml: PluginYml }> {
  const { source } = request;
  const given = sourceOf(source);
  if (given.type !== "local") throw new Failure("invalid", `only a folder can be linked, "${source}" is none`);
  const folder = await realpath(given.path).catch(() => undefined);
  if (folder === undefined) throw new Failure("not_found", `there is not a folder "${given.path}" on the server`);
  if (folder.startsWith(`${await realpath(work.folders.plugins)}/`)) {
    throw new Failure("invalid", `"${folder}" is among the plugins already`);
  }
  const { yml } = await readPackage(folder);
  requireFolderVersion(request, yml);
  await checkNames(work, yml, request);
  return { folder, yml };
}

/** Digest of what a linked folder asks for: its other files may change at each moment. */
export function linkDigest(folder: string, yml: PluginYml): string {
  return sha256Hex(canonicalJson({ folder, yml }));
}

/** The record of a folder that was put there by hand. */
export async function byHand(work: Work, name: string): Promise<VersionRecord> {
  const folder = join(work.folders.plugins, name);
  const { yml } = await readPackage(folder, name);
  return {
    id: `by-hand-${work.now().toString(36)}`,
    source: "",
    requested: "",
    version: yml.version,
    installed_at: new Date(work.now()).toISOString(),
    files: await lockFiles(folder, work.limits),
    permissions: askedBy(yml),
  };
}
