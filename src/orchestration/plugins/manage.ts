import { randomBytes } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import { withoutConf } from "../core/plugins/conf.ts";
import { makerOf } from "../core/plugins/maker.ts";
import { isPluginName } from "../core/plugin-names.ts";
import { activate, takeAway } from "./activate.ts";
import { runHook } from "./hooks.ts";
import { compareFiles, requireUnchanged } from "./lock.ts";
import { readPackage } from "./package.ts";
import { type FileRecord, grantedBy, type InstallOptions, type Plugin } from "./plugin.ts";
import { activeOf, freshState, previousOf, readState, type VersionRecord, writeState } from "./state.ts";
import { dropTexts } from "./texts.ts";
import { giveTo } from "./tree.ts";
import { current, known, ownEnvironment, type Work } from "./work.ts";

/** False when nothing of that name is there. Its uninstall hook is run and cannot keep it. */
export async function remove(work: Work, name: string, how: InstallOptions): Promise<boolean> {
  if (!isPluginName(name)) throw new Failure("invalid", `"${name}" is not the name of a plugin`);
  const { folders, registry } = work;
  await registry.refresh();
  // By its name or an alias, and also what is broken and in no list.
  const found = registry.find(name);
  const own = found?.yml.name ?? name;
  if (found?.origin === "bundled") {
    throw new Failure("conflict", `"${own}" is part of the server: it can be disabled, not removed`);
  }
  const active = await activeOf(folders, own);
  const state = await readState(folders, own).catch(() => undefined);
  // What an install that was broken off left behind is cleared away as well, and never was a plugin.
  const isThere = active.type !== "none" || state?.versions.some(({ id }) => id !== state.pending) === true;
  if (active.type === "version" || active.type === "folder") {
    await sayGoodbye(work, { folder: join(folders.plugins, own), found }, how);
  }
  await work.oneByOne(() => takeAway(work, own));
  await registry.refresh();
  return isThere;
}

interface Leaving {
  folder: string;
  /** What is known of it, where it is not broken. */
  found: Plugin | undefined;
}

async function sayGoodbye(work: Work, { folder, found }: Leaving, { progress, signal }: InstallOptions): Promise<void> {
  try {
    const { yml } = await readPackage(folder);
    const id = randomBytes(8).toString("hex");
    const timeoutMs = work.hookMs;
    const permissions = found?.permissions ?? grantedBy(yml);
    const user = work.confinement.userOf({ name: yml.name, permissions, isBundled: false });
    const own = found === undefined ? {} : ownEnvironment(work, makerOf(found), permissions);
    await runHook({ ...work, id, hook: "uninstall", own, yml, folder, user, timeoutMs, signal, onLine: progress });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    progress?.(`warning: ${error.message}`);
  }
}

/**
 * Back to the version before; the one that was active is what the next rollback returns to. A plugin whose folder is gone
 * returns to the version that it had.
 */
export async function rollback(work: Work, name: string): Promise<Plugin> {
  await work.registry.refresh();
  const isUnknown = work.registry.find(name) === undefined && isPluginName(name);
  const isLost = isUnknown && (await readState(work.folders, name)) !== undefined;
  const own = isLost ? name : (await known(work, name)).yml.name;
  const [state, active] = await Promise.all([readState(work.folders, own), activeOf(work.folders, own)]);
  const before = state === undefined ? undefined : previousOf(state, active);
  if (before === undefined) throw new Failure("conflict", `"${own}" has no earlier version to return to`);
  if (active.type === "folder") {
    throw new Failure("conflict", `"${own}" was put there by hand; remove the folder first`);
  }
  const folder = join(work.folders.versions, own, before.id);
  const { yml } = await readPackage(folder, own);
  requireUnchanged(own, await compareFiles(folder, withoutConf(yml, (before.accepted ?? before).files)));
  await activate(work, own, before);
  return current(work, own);
}

/** See `Installer`. A version that was used since then stays. */
export async function withdraw(work: Work, name: string, installedAt: string): Promise<void> {
  const [state, active] = await Promise.all([readState(work.folders, name), activeOf(work.folders, name)]);
  const came = state?.versions.find((version) => version.installed_at === installedAt);
  if (came === undefined || active.type !== "version" || active.id !== came.id) return;
  await rollback(work, name);
  const after = await readState(work.folders, name);
  if (after === undefined) return;
  await writeState(work, name, { ...after, versions: after.versions.filter(({ id }) => id !== came.id) });
  await rm(join(work.folders.versions, name, came.id), { recursive: true, force: true });
  await dropTexts(work.folders, { name, id: came.id });
}

export async function setEnabled(work: Work, name: string, enabled: boolean): Promise<Plugin> {
  const own = (await known(work, name)).yml.name;
  const state = (await readState(work.folders, own)) ?? freshState;
  await writeState(work, own, { ...state, enabled });
  return current(work, own);
}

/**
 * Before each run of an installed plugin. Files that were only touched are written down with their new marks, so that
 * they are read once.
 */
export async function verify(work: Work, plugin: Plugin): Promise<void> {
  const { yml, origin, lock, folder, permissions } = plugin;
  const { name } = yml;
  if (origin !== "installed") return;
  const user = work.confinement.userOf({ name, permissions, isBundled: false });
  // Where it was installed there was no such user.
  if (user !== undefined && (await stat(folder)).uid !== user) await giveTo(folder, user);
  if (lock?.installed_at === undefined || lock.installed_at === "") {
    throw new Failure("conflict", `nothing is known about how plugin "${name}" came here; install it again`);
  }
  const comparison = await compareFiles(folder, withoutConf(yml, lock.files));
  requireUnchanged(name, comparison);
  if (Object.keys(comparison.moved).length === 0) return;
  await work.oneByOne(async () => {
    const state = await readState(work.folders, name);
    const versions = state?.versions.map((version) =>
      folder.endsWith(`/${version.id}`) ? remarked(version, comparison.moved) : version,
    );
    if (state !== undefined && versions !== undefined) await writeState(work, name, { ...state, versions });
  });
}

/** New marks go to the records that the files were compared with. */
function remarked(version: VersionRecord, moved: Record<string, FileRecord>): VersionRecord {
  const { files, accepted } = version;
  if (accepted === undefined) return { ...version, files: { ...files, ...moved } };
  return { ...version, accepted: { ...accepted, files: { ...accepted.files, ...moved } } };
}
