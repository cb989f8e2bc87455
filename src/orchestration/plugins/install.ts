import { randomBytes } from "node:crypto";
import { chmod, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import type { PluginYml } from "../api/plugins/plugin-yml.ts";
import { withoutConf } from "../core/plugins/conf.ts";
import { originOfSource } from "../core/plugins/maker.ts";
import type { PluginSource } from "../core/plugins/source.ts";
import { createLimit } from "../../base/words/limit.ts";
import { accept, acceptedNotes, changesOf } from "./accept.ts";
import { activate, stepAside } from "./activate.ts";
import {
  check,
  checkNames,
  lackText,
  requireExpected,
  requirePrograms,
  requireWanted,
  sourceOf,
  versionOf,
  type Wish,
} from "./checks.ts";
import { editNotes, keepEdits, lockedAsShipped } from "./conf.ts";
import { runHook } from "./hooks.ts";
import { byHand, link } from "./link.ts";
import { compareFiles, lockFiles } from "./lock.ts";
import { remove, rollback, setEnabled, verify, withdraw } from "./manage.ts";
import { selfDescription } from "./package.ts";
import { preview } from "./preview.ts";
import { grantedBy, type InstalledPlugin, type Installer, type InstallOptions, type UpdateRequest } from "./plugin.ts";
import { type Fetched, fetchPackage, putInPlace, versionText, withStaging } from "./stage.ts";
import { activeOf, readState, type VersionRecord } from "./state.ts";
import { dropTexts, keepTexts, lockedTexts } from "./texts.ts";
import { giveTo, requireLinksInside } from "./tree.ts";
import { current, type InstallerOptions, known, ownEnvironment, type Work } from "./work.ts";
import { together } from "../core/plugins/conflicts.ts";

/** See `Installer`. Nothing else may change the folders meanwhile, and `recover` comes before it. */
export function createInstaller(options: InstallerOptions): Installer {
  const work: Work = { ...options, oneByOne: createLimit(1) };
  const room = createLimit(options.installsAtOnceMax);
  const bring = (wish: Wish, how: InstallOptions) => install(work, wish, how).catch(tellDisk);
  const show = (wish: Wish, how: InstallOptions) => preview(work, wish, how).catch(tellDisk);
  return {
    install: (request, how = {}) => room(() => bring(request, how)),
    preview: (request, how = {}) => room(() => show(request, how)),
    remove: (name, how = {}) => remove(work, name, how),
    update: (name, request = {}, how = {}) => room(async () => bring(await updateWish(work, name, request), how)),
    previewUpdate: (name, request = {}, how = {}) => room(async () => show(await updateWish(work, name, request), how)),
    withdraw: (name, installedAt) => work.oneByOne(() => withdraw(work, name, installedAt)),
    rollback: (name) => work.oneByOne(() => rollback(work, name)),
    setEnabled: (name, enabled) => work.oneByOne(() => setEnabled(work, name, enabled)),
    changes: (name) => work.oneByOne(() => changesOf(work, name)).catch(tellDisk),
    accept: (name, expect) => work.oneByOne(() => accept(work, name, expect)).catch(tellDisk),
    verify: (plugin) => verify(work, plugin),
  };
}

const ofPackage = new Set(["ENOENT", "ENAMETOOLONG", "ELOOP", "EACCES", "ENOTDIR", "EISDIR"]);

/** A full disk, or a package that is odd or changes while it is copied, is not a bug. */
function tellDisk(error: unknown): never {
  const code = error instanceof Error && !(error instanceof Failure) && "code" in error ? String(error.code) : "";
  if (code === "ENOSPC" || code === "EDQUOT") {
    const message = "no space left for the package: free some disk space; what was installed before works on";
    throw new Failure("storage_full", message, { cause: error });
  }
  if (!ofPackage.has(code)) throw error;
  throw new Failure("invalid", `the package cannot be copied: ${(error as Error).message}`, { cause: error });
}

/** Fetches beside the old version, and changes over only when all of the new one is there and its hook has succeeded. */
async function install(work: Work, wish: Wish, how: InstallOptions): Promise<InstalledPlugin> {
  requireWanted(how.signal);
  if (wish.link === true) return { ...(await link(work, wish)), warnings: [] };
  const source = sourceOf(wish.source);
  const version = versionOf(wish.version);
  return withStaging(work.folders, async (staging) => {
    const fetched = await fetchPackage(work, staging, { source, version, signal: how.signal, onLine: how.progress });
    work.reached("fetched");
    return bringIn(work, { wish, version, source, fetched }, how);
  });
}

interface Incoming {
  wish: Wish;
  version: string | undefined;
  source: PluginSource;
  fetched: Fetched;
}

async function bringIn(work: Work, incoming: Incoming, how: InstallOptions): Promise<InstalledPlugin> {
  const { fetched, wish, version } = incoming;
  const { name } = fetched.yml;
  const id = idOf(fetched, work.now());
  const folder = join(work.folders.versions, name, id);
  const before = work.registry.find(name);
  work.preparing.add(id);
  try {
    const yml = await putInPlace(fetched, folder, work.limits);
    work.reached("copied");
    const checked = { wish, version, yml, tag: fetched.tag };
    // First: of a package that was swapped nothing else is worth telling.
    await requireExpected(work, checked, folder);
    await check(work, checked);
    requireWanted(how.signal);
    const record = await prepare(work, { ...incoming, id, folder }, how);
    // Others may have come in while the hook was running.
    await work.oneByOne(async () => {
      await checkNames(work, yml, wish);
      await changeOver(work, yml, { record, wish });
    });
  } finally {
    work.preparing.delete(id);
    await clearUnused(work, name, id);
  }
  const plugin = await current(work, name);
  const lost = plugin.folder === before?.folder ? [] : acceptedNotes(before);
  return { ...plugin, warnings: [...fetched.warnings, ...lost, ...work.lacks.map(lackText)] };
}

/** A version that did not become the active one leaves nothing. */
async function clearUnused({ folders }: Work, name: string, id: string): Promise<void> {
  const active = await activeOf(folders, name);
  if (active.type === "version" && active.id === id) return;
  await rm(join(folders.versions, name, id), { recursive: true, force: true });
  await dropTexts(folders, { name, id });
  // Only when nothing is left in it.
  await rmdir(join(folders.versions, name)).catch(() => undefined);
}

async function changeOver(
  work: Work,
  yml: PluginYml,
  { record, wish }: { record: VersionRecord; wish: Wish },
): Promise<void> {
  const { name } = yml;
  if (await isAsBefore(work, yml, { record, wish })) return;
  const active = await activeOf(work.folders, name);
  if (active.type === "folder" && wish.replace === true) await stepAside(work, name, await byHand(work, name));
  await activate(work, name, record);
}

interface Prepared extends Incoming {
  id: string;
  folder: string;
}

/** Runs the hook where the package will stay, and locks what is there then. */
async function prepare(work: Work, prepared: Prepared, { progress, signal }: InstallOptions): Promise<VersionRecord> {
  const { fetched, wish, version, id, folder } = prepared;
  const { yml } = fetched;
  const timeoutMs = work.hookMs;
  const said = await selfDescription(folder);
  const permissions = grantedBy(yml);
  const user = work.confinement.userOf({ name: yml.name, permissions, isBundled: false });
  if (user === undefined) await chmod(folder, 0o700);
  else await giveTo(folder, user);
  const before = await activeVersion(work, yml.name);
  const shipped = before === undefined ? {} : await keepEdits(work, { yml, folder, id, user, before });
  for (const note of editNotes(shipped)) progress?.(note);
  const own = ownEnvironment(work, { plugin: yml.name, ...originOfSource(wish.source) }, permissions);
  await runHook({ ...work, id, hook: "install", own, yml, folder, user, timeoutMs, signal, onLine: progress });
  work.reached("hooked");
  if ((await selfDescription(folder)) !== said) {
    throw new Failure("invalid", `the install hook of "${yml.name}" changed its plugin.yml: not installed`);
  }
  await requireLinksInside(folder);
  await requirePrograms(folder, yml.name);
  const files = lockedAsShipped(await lockFiles(folder, work.limits), shipped);
  await keepTexts(work, { name: yml.name, id }, await lockedTexts(folder, files, work.limits));
  work.reached("locked");
  return {
    id,
    source: wish.source,
    requested: version ?? "",
    version: versionText(fetched),
    ...(fetched.commit === "" ? {} : { commit: fetched.commit }),
    installed_at: new Date(work.now()).toISOString(),
    files,
    permissions,
  };
}

/** The version, readable, and something that no other has. */
function idOf({ yml, tag }: Fetched, now: number): string {
  const version = (yml.version || tag || "0")
    .replace(/[^A-Za-z0-9._+-]/g, "-")
    .replace(/^\.+/, "")
    .slice(0, 60);
  return `${version}-${now.toString(36)}${randomBytes(3).toString("hex")}`;
}

async function activeVersion({ folders }: Work, name: string): Promise<VersionRecord | undefined> {
  const [state, active] = await Promise.all([readState(folders, name), activeOf(folders, name)]);
  return active.type === "version" ? state?.versions.find(({ id }) => id === active.id) : undefined;
}

/** An update that brings nothing new leaves everything, and so does an apply that asks for the latest each time. */
async function isAsBefore(
  work: Work,
  yml: PluginYml,
  { record, wish }: { record: VersionRecord; wish: Wish },
): Promise<boolean> {
  const before = await activeVersion(work, yml.name);
  if (before === undefined || gist(before) !== gist(record)) return false;
  // Installing the same version again restores what was changed by hand: an operator means that, and an apply does not.
  const { files } = (wish.forBlocks === undefined ? undefined : before.accepted) ?? before;
  const folder = join(work.folders.versions, yml.name, before.id);
  const { changes } = await compareFiles(folder, withoutConf(yml, files));
  return changes.length === 0;
}

function gist({ source, version, requested, permissions, files }: VersionRecord): string {
  const sums = Object.entries(files).map(([path, { sha256 }]) => [path, sha256]);
  return JSON.stringify([source, version, requested, permissions, sums]);
}

/** An update as an install from where the plugin came from. Fails `conflict` where that is not known or not ours. */
async function updateWish(work: Work, name: string, request: UpdateRequest): Promise<Wish> {
  const { origin, lock, yml, folder, permissions } = await known(work, name);
  const source = lock?.source ?? "";
  if (origin === "bundled") throw new Failure("conflict", `"${yml.name}" is part of the server and updated with it`);
  if (origin === "linked") throw new Failure("conflict", `"${yml.name}" is linked to ${folder}: change it there`);
  if (source === "")
    throw new Failure("conflict", `"${yml.name}" was put there by hand, so its source is unknown; install it`);
  const { version, expect, grant, forBlocks } = request;
  return {
    source,
    replace: true,
    granted: grant === undefined ? permissions : together(permissions, grant),
    ...(version === undefined ? {} : { version }),
    ...(expect === undefined ? {} : { expect }),
    ...(forBlocks === undefined ? {} : { forBlocks }),
  };
}
