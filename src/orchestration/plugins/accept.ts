import { join } from "node:path";
import { canonicalJson, sha256Hex } from "../../base/pure/digest.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { PluginPermissions, PluginYml } from "../api/plugins/plugin-yml.ts";
import { withoutConf } from "../core/plugins/conf.ts";
import { widened } from "../core/plugins/conflicts.ts";
import { lineDiff } from "../core/plugins/line-diff.ts";
import { checkNames, requirePrograms, requireServer, requireVariables } from "./checks.ts";
import { type Change, compareFiles, lockOf } from "./lock.ts";
import { readPackage } from "./package.ts";
import {
  ChangedPackage,
  type FileChange,
  type FileRecord,
  grantedBy,
  type Plugin,
  type PluginChanges,
} from "./plugin.ts";
import { activeOf, readState, type VersionRecord, writeState } from "./state.ts";
import { inPackage, keepTexts, keptTexts, lockedTexts, textOf, type Texts } from "./texts.ts";
import { requireLinksInside } from "./tree.ts";
import { current, known, type Work } from "./work.ts";

/** An installed plugin, and what differs from its lock. */
interface Looked {
  plugin: Plugin;
  version: VersionRecord;
  folder: string;
  changes: Change[];
  /** The lock as it would be. */
  files: Record<string, FileRecord>;
  /** Digest of what would be locked; hex. */
  digest: string;
  /** Undefined where plugin.yml is as it was. */
  grant: PluginPermissions | undefined;
}

/** What was changed in an installed plugin since it was locked. Fails `conflict` for one that has no lock. */
export async function changesOf(work: Work, name: string): Promise<PluginChanges> {
  const looked = await look(work, name);
  const { plugin, version, digest, grant, changes } = looked;
  const { yml, permissions } = plugin;
  const before = await keptTexts(work.folders, { name: yml.name, id: version.id });
  const shown = changes.slice(0, work.changesShown.filesMax);
  const files: FileChange[] = [];
  for (const change of shown) files.push(await shownChange(work, looked, { change, before }));
  return {
    yml,
    digest,
    files,
    left: changes.length - shown.length,
    ...(grant === undefined ? {} : { grant, more: widened(permissions, grant) }),
  };
}

/** Locks an installed plugin as it is now. Fails `conflict` where it is not what `expect` is the digest of. */
export async function accept(work: Work, name: string, expect: string): Promise<Plugin> {
  const { plugin, version, folder, changes, files, digest, grant } = await look(work, name);
  const own = plugin.yml.name;
  if (digest !== expect) {
    const way = `look at it again: berth plugins accept ${own}`;
    throw new ChangedPackage(`what plugin "${own}" holds now is not what was shown; nothing was accepted, ${way}`);
  }
  if (changes.length === 0) return plugin;
  await requireSound(work, plugin);
  const permissions = grant ?? plugin.permissions;
  await fit(work, { yml: plugin.yml, folder, permissions, changes });
  await keepTexts(work, { name: own, id: version.id }, await lockedTexts(folder, files, work.limits));
  const state = await readState(work.folders, own);
  if (state === undefined) throw new Failure("conflict", `plugin "${own}" was removed; nothing was accepted`);
  const accepted = { at: new Date(work.now()).toISOString(), files, permissions };
  const versions = state.versions.map((each) => (each.id === version.id ? { ...each, accepted } : each));
  await writeState(work, own, { ...state, versions });
  return current(work, own);
}

async function look(work: Work, name: string): Promise<Looked> {
  await work.registry.refresh();
  // One whose plugin.yml was broken is in no list, and says why.
  const isBroken = work.registry.list().errors.some((text) => text.startsWith(`${name}: `));
  const plugin = isBroken ? await current(work, name) : await known(work, name);
  const { yml, origin } = plugin;
  requireLocked(plugin);
  const [state, active] = await Promise.all([readState(work.folders, yml.name), activeOf(work.folders, yml.name)]);
  const version = active.type === "version" ? state?.versions.find(({ id }) => id === active.id) : undefined;
  if (version === undefined || origin !== "installed") {
    throw new Failure("conflict", `nothing is known about how plugin "${yml.name}" came here; install it again`);
  }
  const folder = join(work.folders.versions, yml.name, version.id);
  await requireLinksInside(folder);
  const { files: before } = version.accepted ?? version;
  const { changes, moved } = await compareFiles(folder, withoutConf(yml, before));
  const gone = new Set(changes.flatMap(({ path, change }) => (change === "removed" ? [path] : [])));
  const kept = Object.fromEntries(Object.entries(before).filter(([path]) => !gone.has(path)));
  const fresh = await lockOf(
    folder,
    changes.flatMap(({ path, change }) => (change === "removed" ? [] : [path])),
  );
  const files = { ...kept, ...moved, ...fresh };
  const isYml = changes.some(({ path }) => path === "plugin.yml");
  const grant = isYml ? grantedBy(yml) : undefined;
  const digest = digestOf(yml, { version, files, permissions: grant ?? plugin.permissions });
  return { plugin, version, folder, changes, files, digest, grant };
}

/** Fails `conflict` for a plugin whose files are compared with nothing. */
function requireLocked({ yml: { name }, origin, folder }: Plugin): void {
  if (origin === "bundled") throw new Failure("conflict", `"${name}" is part of the server: nothing in it is changed`);
  if (origin === "linked") {
    throw new Failure("conflict", `"${name}" is linked to ${folder} and used as it is: there is nothing to accept`);
  }
  if (origin === "folder") {
    throw new Failure("conflict", `"${name}" was put there by hand and is used as it is: there is nothing to accept`);
  }
}

interface Locked {
  version: VersionRecord;
  files: Readonly<Record<string, FileRecord>>;
  permissions: PluginPermissions;
}

/**
 * The same before and after it was accepted, so that a request that comes twice changes nothing more. The grant was read
 * at another moment than the hash of plugin.yml, which the plugin's own user may have changed in between.
 */
function digestOf(yml: PluginYml, { version: { id }, files, permissions }: Locked): string {
  const sums = Object.entries(withoutConf(yml, files)).map(([path, { sha256 }]) => [path, sha256]);
  return sha256Hex(canonicalJson({ name: yml.name, id, files: Object.fromEntries(sums), permissions }));
}

async function shownChange(
  work: Work,
  { folder, files }: Looked,
  { change, before }: { change: Change; before: Texts },
): Promise<FileChange> {
  const { path } = change;
  const isGone = change.change === "removed";
  const old = change.change === "added" ? "" : before[path];
  const fresh = isGone ? "" : await textOf(folder, path, work.limits.texts.fileBytesMax);
  const { size, sha256 } = files[path] ?? {};
  const marks = isGone || size === undefined || sha256 === undefined ? {} : { size, sha256 };
  // The plugin's own user may write at any time: what is shown has to be what the digest is of.
  if (!isGone && fresh !== undefined && sha256Hex(fresh) !== sha256) throw changing(path);
  if (old === undefined || fresh === undefined) return { ...change, ...marks };
  const { lines, left } = lineDiff(old, fresh, work.changesShown);
  return { ...change, ...marks, diff: lines, ...(left > 0 ? { left } : {}) };
}

/** What an install would refuse, an accept refuses as well. */
async function requireSound(work: Work, { yml, folder, lock }: Plugin): Promise<void> {
  const read = await readPackage(folder, yml.name);
  await checkNames(work, read.yml, { source: lock?.source ?? "", replace: true });
  requireServer(work, read.yml);
  requireVariables(work, read.yml);
  await requirePrograms(folder, yml.name);
}

interface Fitting {
  yml: PluginYml;
  folder: string;
  permissions: PluginPermissions;
  changes: readonly Change[];
}

/** What the operator wrote can be read, and run, by the user that the plugin runs as. */
async function fit(work: Work, { yml, folder, permissions, changes }: Fitting): Promise<void> {
  const user = work.confinement.userOf({ name: yml.name, permissions, isBundled: false });
  for (const { path, change } of changes) {
    if (change === "removed") continue;
    await inPackage(folder, path, async (handle) => {
      const isProgram = path === yml.entrypoint || /^(?:(?:bin|commands)\/[^/]+|install|uninstall)$/.test(path);
      const { mode } = await handle.stat();
      await handle.chmod(isProgram ? 0o755 : (mode & 0o777) | 0o644);
      if (user !== undefined) await handle.chown(user, user);
    });
  }
}

function changing(path: string): ChangedPackage {
  return new ChangedPackage(`${path} was changed while it was looked at; nothing was accepted, look at it again`);
}

/** The text for the operator when other files take the place of those that were accepted. */
export function acceptedNotes(before: Plugin | undefined): string[] {
  const { accepted } = before?.lock ?? {};
  if (before === undefined || accepted === undefined) return [];
  const { name } = before.yml;
  const shown = accepted.files.slice(0, 5).join(", ");
  const more = accepted.files.length > 5 ? ` and ${accepted.files.length - 5} more` : "";
  const way = `to return to them after it is installed: berth plugins rollback ${name}`;
  return [`changes that were accepted in "${name}" are not part of this package: ${shown}${more}; ${way}`];
}
