import { readdir, readFile, readlink, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { PluginPermissions } from "../api/plugins/plugin-yml.ts";
import { Failure } from "../../base/wire/failure.ts";
import { isPluginName } from "../core/plugin-names.ts";
import type { PluginFolders } from "./folders.ts";
import type { FileRecord, LockRecord } from "./plugin.ts";

/** One installed version of a plugin; its folder is `.versions/<name>/<id>`. */
export interface VersionRecord {
  id: string;
  source: string;
  /** The version that was asked for; empty for the newest. */
  requested: string;
  version: string;
  commit?: string;
  /** ISO 8601. */
  installed_at: string;
  /** As they were released: with these an update knows whether it brings anything new. */
  files: Record<string, FileRecord>;
  permissions: PluginPermissions;
  /** Changes that the operator took; they count instead of what was released. */
  accepted?: Accepted;
}

interface Accepted {
  /** ISO 8601. */
  at: string;
  files: Record<string, FileRecord>;
  permissions: PluginPermissions;
}

/**
 * What is known about a plugin beside its files. Which version is active is decided by the link `<plugins>/<name>` and by
 * nothing else, so that one rename decides; a version named in `pending` counts only once the link names it.
 */
export interface PluginState {
  enabled: boolean;
  /** Oldest activation first. */
  versions: VersionRecord[];
  /** Id of a version that is being activated. */
  pending?: string;
}

export const freshState: PluginState = { enabled: true, versions: [] };

/** Writes a file whole or not at all, durably. */
export type WriteFile = (path: string, content: string, mode: number) => Promise<void>;

function statePath(folders: PluginFolders, name: string): string {
  if (!isPluginName(name)) throw new Failure("invalid", `"${name}" is not the name of a plugin`);
  return join(folders.state, `${name}.json`);
}

/** Undefined for a plugin that was never installed, enabled or disabled. Fails `unavailable` for a damaged file. */
export async function readState(folders: PluginFolders, name: string): Promise<PluginState | undefined> {
  const path = statePath(folders, name);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    const state: unknown = JSON.parse(text);
    if (isState(state)) return state;
  } catch {
    // Reported below, like a text that parses and is not a state.
  }
  throw new Failure("unavailable", `"${path}" is damaged: remove plugin "${name}" and install it again`);
}

function isState(value: unknown): value is PluginState {
  if (typeof value !== "object" || value === null || !("versions" in value) || !("enabled" in value)) return false;
  const { versions, enabled } = value;
  return typeof enabled === "boolean" && Array.isArray(versions) && versions.every(isVersion);
}

function isVersion(value: unknown): value is VersionRecord {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Record<string, unknown>;
  const texts = ["id", "source", "requested", "version", "installed_at"].every(
    (key) => typeof fields[key] === "string",
  );
  const maps = ["files", "permissions"].every((key) => typeof fields[key] === "object" && fields[key] !== null);
  return (
    texts &&
    maps &&
    isAcceptance(fields.accepted) &&
    /^[A-Za-z0-9._+-]+$/.test(String(fields.id)) &&
    !String(fields.id).startsWith(".")
  );
}

function isAcceptance(value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value !== "object" || value === null) return false;
  const { at, files, permissions } = value as Record<string, unknown>;
  return typeof at === "string" && [files, permissions].every((map) => typeof map === "object" && map !== null);
}

export function writeState(
  { folders, writeFile }: { folders: PluginFolders; writeFile: WriteFile },
  name: string,
  state: PluginState,
): Promise<void> {
  return writeFile(statePath(folders, name), `${JSON.stringify(state, null, 1)}\n`, 0o600);
}

export async function removeState(folders: PluginFolders, name: string): Promise<void> {
  await rm(statePath(folders, name), { force: true });
}

/** Names with a state file. */
export async function statesIn(folders: PluginFolders): Promise<string[]> {
  const entries = await readdir(folders.state).catch(() => []);
  return entries.flatMap((entry) => (/^(.+)\.json$/.exec(entry)?.[1] ?? []) as string[] | string).filter(isPluginName);
}

/** What the link of a plugin leads to. */
export type Active =
  | { type: "version"; id: string }
  /** A link to a folder elsewhere. */
  | { type: "linked"; folder: string }
  /** A real folder, put there by hand. */
  | { type: "folder" }
  | { type: "none" };

export async function activeOf(folders: PluginFolders, name: string): Promise<Active> {
  const path = join(folders.plugins, name);
  try {
    const target = await readlink(path);
    const isOurs = dirname(dirname(target)) === ".versions" && basename(dirname(target)) === name;
    return isOurs ? { type: "version", id: basename(target) } : { type: "linked", folder: target };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    return { type: code === "ENOENT" ? "none" : "folder" };
  }
}

/** The version before the active one: what a rollback returns to. */
export function previousOf(state: PluginState, active: Active): VersionRecord | undefined {
  const id = active.type === "version" ? active.id : undefined;
  return state.versions.findLast((version) => version.id !== id && version.id !== state.pending);
}

/** What was written down about the plugin as it is now; undefined where nothing was. */
export async function readLock(folders: PluginFolders, name: string): Promise<LockRecord | undefined> {
  const [state, active] = await Promise.all([readState(folders, name), activeOf(folders, name)]);
  if (state === undefined) return undefined;
  const before = previousOf(state, active);
  const previous = before === undefined ? {} : { previous: { id: before.id, version: before.version } };
  const version = active.type === "version" ? state.versions.find(({ id }) => id === active.id) : undefined;
  if (version === undefined) {
    const linked = active.type === "linked" ? { linked: true, source: active.folder } : { source: "" };
    return { ...unversioned, ...linked, ...previous, enabled: state.enabled };
  }
  const { id: _, accepted: __, ...record } = version;
  return { ...record, ...acceptedLock(version), ...previous, enabled: state.enabled };
}

function acceptedLock({ files, accepted }: VersionRecord): Partial<LockRecord> {
  if (accepted === undefined) return {};
  const { at, permissions } = accepted;
  const paths = new Set([...Object.keys(files), ...Object.keys(accepted.files)]);
  const differ = [...paths].filter((path) => files[path]?.sha256 !== accepted.files[path]?.sha256).sort();
  return { files: accepted.files, permissions, accepted: { at, files: differ } };
}

const unversioned = {
  requested: "",
  version: "",
  installed_at: "",
  files: {},
};
