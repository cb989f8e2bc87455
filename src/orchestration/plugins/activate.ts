import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm, rmdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { isPluginName } from "../core/plugin-names.ts";
import type { PluginFolders } from "./folders.ts";
import {
  type Active,
  activeOf,
  freshState,
  type PluginState,
  readState,
  removeState,
  statesIn,
  type VersionRecord,
  type WriteFile,
  writeState,
} from "./state.ts";
import { isTextsOf } from "./texts.ts";

export interface Disk {
  folders: PluginFolders;
  writeFile: WriteFile;
  /** Renames and makes the new name durable. */
  moveInPlace: (from: string, to: string) => Promise<void>;
  /** Ids of versions that are being made ready: they are not cleared away. */
  preparing: Set<string>;
  /** Told of each step that is done, so that tests can break off there. */
  reached: (step: string) => void;
}

/** Versions of one plugin that are kept: the active one, and what `rollback` returns to. */
const versionsKept = 3;

/**
 * Makes a version the active one: it is written down as pending, the link is renamed over the old one, and what is not
 * needed any more goes. Broken off anywhere, the version before works on, or the new one does.
 */
export async function activate(disk: Disk, name: string, version: VersionRecord): Promise<void> {
  const { folders, reached } = disk;
  const before = (await readState(folders, name)) ?? freshState;
  const known = keptVersions(before, await activeOf(folders, name));
  const others = known.filter(({ id }) => id !== version.id);
  // One that was active before needs no mark: it is kept whether or not this comes to its end.
  const pending = others.length < known.length ? {} : { pending: version.id };
  await writeState(disk, name, { enabled: before.enabled, versions: [...others, version], ...pending });
  reached("written");
  await pointTo(disk, name, join(".versions", name, version.id));
  reached("swapped");
  await settle(disk, name);
  reached("settled");
}

/** Lets the name lead to `target`, whatever it led to before but a folder. */
export async function pointTo({ folders, moveInPlace }: Disk, name: string, target: string): Promise<void> {
  const link = join(folders.plugins, `.link-${name}-${randomBytes(6).toString("hex")}`);
  await symlink(target, link);
  try {
    await moveInPlace(link, join(folders.plugins, name));
  } catch (error) {
    await rm(link, { force: true });
    throw error;
  }
}

/**
 * A folder that was put there by hand becomes a version like any other, so that a rename can take its place. In
 * between nothing is active; `recover` brings it back when that is where it ends.
 */
export async function stepAside(disk: Disk, name: string, record: VersionRecord): Promise<void> {
  const { folders, moveInPlace, reached } = disk;
  const before = (await readState(folders, name)) ?? freshState;
  await writeState(disk, name, { ...before, versions: [...before.versions, record], pending: record.id });
  reached("hand written");
  await mkdir(join(folders.versions, name), { recursive: true, mode: 0o755 });
  await moveInPlace(join(folders.plugins, name), join(folders.versions, name, record.id));
  reached("hand moved");
  await pointTo(disk, name, join(".versions", name, record.id));
  await settle(disk, name);
}

/** Brings state and folders of one plugin in line with its link, and removes versions that are not kept. */
async function settle(disk: Disk, name: string): Promise<void> {
  const { folders } = disk;
  const [state, active] = await Promise.all([readState(folders, name), activeOf(folders, name)]);
  if (state === undefined) return;
  const kept = keptVersions(state, active);
  await writeState(disk, name, { enabled: state.enabled, versions: kept });
  await removeOthers(disk, name, kept);
}

function keptVersions({ versions, pending }: PluginState, active: Active): VersionRecord[] {
  const id = active.type === "version" ? active.id : undefined;
  // What was on its way in and did not get there never was.
  const known = versions.filter((version) => version.id !== pending || version.id === id);
  const current = known.filter((version) => version.id === id);
  const others = known.filter((version) => version.id !== id);
  return [...others.slice(-(versionsKept - current.length)), ...current];
}

async function removeOthers(disk: Disk, name: string, kept: readonly VersionRecord[]): Promise<void> {
  const folder = join(disk.folders.versions, name);
  for (const entry of await namesIn(folder)) {
    const isWanted = [...kept.map(({ id }) => id), ...disk.preparing].some(
      (id) => entry === id || isTextsOf(entry, id),
    );
    if (!isWanted) await rm(join(folder, entry), { recursive: true, force: true });
  }
  // Only when nothing is left in it.
  await rmdir(folder).catch(() => undefined);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/**
 * Finishes or takes back what a crash broke off, in every plugin; no other install may be running. A plugin whose state
 * cannot be read is left alone: the list of plugins tells about it.
 */
export async function recover(disk: Disk, onError: (name: string, error: unknown) => void): Promise<void> {
  const { folders } = disk;
  for (const entry of await namesIn(folders.staging)) {
    await rm(join(folders.staging, entry), { recursive: true, force: true });
  }
  const entries = await namesIn(folders.plugins);
  for (const entry of entries.filter((one) => one.startsWith(".link-"))) {
    await rm(join(folders.plugins, entry), { force: true });
  }
  const versioned = await namesIn(folders.versions);
  const names = new Set([...(await statesIn(folders)), ...versioned, ...entries].filter(isPluginName));
  for (const name of names) await recoverOne(disk, name).catch((error: unknown) => onError(name, error));
}

async function recoverOne(disk: Disk, name: string): Promise<void> {
  const { folders } = disk;
  const [state, active] = await Promise.all([readState(folders, name), activeOf(folders, name)]);
  const known = state?.versions ?? [];
  if (active.type === "version" && !known.some(({ id }) => id === active.id)) {
    // The end of a removal: without its record a version is never run.
    await rm(join(folders.plugins, name), { force: true });
    return removeOthers(disk, name, []);
  }
  if (active.type === "none" && known.length > 0) {
    const last = await lastThatIsThere(folders, name, state);
    if (last === undefined) return forget(disk, name);
    // Without a pending version the link was taken away by hand, or got lost in a copy of the root: the operator decides.
    if (state?.pending !== undefined) await pointTo(disk, name, join(".versions", name, last.id));
  }
  if (state === undefined) return removeOthers(disk, name, []);
  await settle(disk, name);
}

/** A first install that was broken off has none: its version is pending and nothing came before. */
async function lastThatIsThere(
  folders: PluginFolders,
  name: string,
  state: PluginState | undefined,
): Promise<VersionRecord | undefined> {
  const present = await namesIn(join(folders.versions, name));
  const there = (state?.versions ?? []).filter(({ id }) => present.includes(id));
  // A folder that stepped aside has no source: it was active until then, pending or not.
  return there.findLast(({ id, source }) => id !== state?.pending || source === "");
}

async function forget(disk: Disk, name: string): Promise<void> {
  await removeState(disk.folders, name);
  await removeOthers(disk, name, []);
}

/** Takes a plugin away: its state first, so that a crash after that leads to its end and not back. */
export async function takeAway(disk: Disk, name: string): Promise<void> {
  const { folders, reached } = disk;
  const path = join(folders.plugins, name);
  const active = await activeOf(folders, name);
  await removeState(folders, name);
  reached("state removed");
  if (active.type === "folder") {
    const aside = join(folders.staging, `removed-${name}-${randomBytes(6).toString("hex")}`);
    await rename(path, aside);
    await rm(aside, { recursive: true, force: true });
  } else if (active.type !== "none") await rm(path, { force: true });
  reached("link removed");
  await removeOthers(disk, name, []);
}
