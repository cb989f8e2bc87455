import { randomBytes } from "node:crypto";
import { realpath, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../api/failure.ts";
import type { PluginYml } from "../api/plugins/plugin-yml.ts";
import { nameConflict, widened } from "../core/plugins/conflicts.ts";
import { fitsVersion } from "../core/plugins/plugin-yml.ts";
import { isVersionWord, parseSource, type PluginSource, sourceForm } from "../core/plugins/source.ts";
import { createLimit } from "../lib/limit.ts";
import { activate, pointTo, stepAside } from "./activate.ts";
import { runHook } from "./hooks.ts";
import { compareFiles, lockFiles } from "./lock.ts";
import { remove, rollback, setEnabled, verify } from "./manage.ts";
import { readPackage } from "./package.ts";
import { fullGrant, type InstallOptions, type InstallRequest, type Installer, type Plugin } from "./plugin.ts";
import { type Fetched, fetchPackage, putInPlace, withStaging } from "./stage.ts";
import { activeOf, readState, type VersionRecord } from "./state.ts";
import { current, type InstallerOptions, known, type Work } from "./work.ts";

/** See `Installer`. Nobody else may change the folders meanwhile, and `recover` comes before it. */
export function createInstaller(options: InstallerOptions): Installer {
  const work: Work = { ...options, oneByOne: createLimit(1) };
  const room = createLimit(options.installsAtOnceMax);
  return {
    install: (request, how = {}) =>
      room(() => (request.link === true ? link(work, request) : install(work, request, how))),
    remove: (name, how = {}) => remove(work, name, how),
    update: (name, version, how = {}) => room(() => update(work, { name, version }, how)),
    rollback: (name) => work.oneByOne(() => rollback(work, name)),
    setEnabled: (name, enabled) => work.oneByOne(() => setEnabled(work, name, enabled)),
    verify: (plugin) => verify(work, plugin),
  };
}

interface Wish extends InstallRequest {
  /** What was granted before; more than that is refused. */
  granted?: Plugin["permissions"];
}

/** Fetches beside the old version, and changes over only when all of the new one is there and its hook has succeeded. */
function install(work: Work, wish: Wish, how: InstallOptions): Promise<Plugin> {
  const source = sourceOf(wish.source);
  const version = versionOf(wish.version, source);
  return withStaging(work.folders, async (staging) => {
    const fetched = await fetchPackage(work, staging, { source, version, signal: how.signal, onLine: how.progress });
    work.reached("fetched");
    return bringIn(work, { wish, version, source, fetched }, how);
  });
}

function sourceOf(text: string): PluginSource {
  const source = parseSource(text);
  if (source === undefined) throw new Failure("invalid", `"${text}" is no source of a plugin: ${sourceForm}`);
  return source;
}

/** `latest` and nothing are the same; a folder has the version that it has. */
function versionOf(text: string | undefined, { type }: PluginSource): string | undefined {
  if (text === undefined || text === "" || text === "latest" || type === "local") return undefined;
  if (isVersionWord(text)) return text;
  throw new Failure("invalid", `"${text}" is no version: write a tag such as 1.2.0`);
}

interface Incoming {
  wish: Wish;
  version: string | undefined;
  source: PluginSource;
  fetched: Fetched;
}

async function bringIn(work: Work, incoming: Incoming, how: InstallOptions): Promise<Plugin> {
  const { fetched, wish } = incoming;
  const { name } = fetched.yml;
  await check(work, fetched.yml, incoming);
  const id = idOf(fetched, work.now());
  const folder = join(work.folders.versions, name, id);
  work.preparing.add(id);
  try {
    await putInPlace(fetched, folder, work.limits);
    work.reached("copied");
    const record = await prepare(work, { ...incoming, id, folder }, how);
    // Others may have come in while the hook was running.
    await work.oneByOne(async () => {
      await checkNames(work, fetched.yml, wish);
      await changeOver(work, name, { record, wish });
    });
  } finally {
    work.preparing.delete(id);
    const active = await activeOf(work.folders, name);
    const isActive = active.type === "version" && active.id === id;
    if (!isActive) await rm(folder, { recursive: true, force: true });
  }
  return current(work, name);
}

async function changeOver(
  work: Work,
  name: string,
  { record, wish }: { record: VersionRecord; wish: Wish },
): Promise<void> {
  if (await isAsBefore(work, name, record)) return;
  const active = await activeOf(work.folders, name);
  if (active.type === "folder" && wish.replace === true) await stepAside(work, name, await byHand(work, name));
  await activate(work, name, record);
}

async function checkNames(work: Work, yml: PluginYml, { replace = false }: InstallRequest): Promise<void> {
  await work.registry.refresh();
  const conflict = nameConflict(yml, work.registry.list().plugins, { replace });
  if (conflict !== undefined) throw new Failure("conflict", conflict);
}

/** Everything that can be known before anything of the package is run. */
async function check(work: Work, yml: PluginYml, { wish, version, fetched }: Incoming): Promise<void> {
  await checkNames(work, yml, wish);
  const wanted = version?.replace(/^v(?=\d)/, "");
  const isNumber = wanted !== undefined && /^\d/.test(wanted);
  if (isNumber && yml.version !== "" && yml.version !== wanted) {
    throw new Failure(
      "invalid",
      `what is tagged ${version} calls itself ${yml.version} in its plugin.yml; not installed`,
    );
  }
  requireMachine(work, yml);
  const more = wish.granted === undefined ? [] : widened(wish.granted, yml.permissions ?? fullGrant);
  if (more.length > 0) {
    const shown = yml.version || fetched.tag || "the new version";
    throw new Failure(
      "forbidden",
      `${shown} wants more than "${yml.name}" was granted: ${more.join(", ")}; install it to grant that`,
    );
  }
}

function requireMachine({ serverVersion, which }: Work, { name, requires = {} }: PluginYml): void {
  if (requires.version !== undefined && !fitsVersion(requires.version, serverVersion)) {
    throw new Failure(
      "conflict",
      `"${name}" requires a server of version ${requires.version}; this is ${serverVersion}`,
    );
  }
  const missing = (requires.programs ?? []).filter((program) => which(program) === null);
  if (missing.length > 0) {
    throw new Failure("conflict", `"${name}" requires programs that are not on this server: ${missing.join(", ")}`);
  }
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
  await runHook({ ...work, id, hook: "install", yml, folder, timeoutMs, signal, onLine: progress });
  work.reached("hooked");
  await requirePrograms(folder, yml.name);
  const files = await lockFiles(folder, work.limits);
  work.reached("locked");
  return {
    id,
    source: wish.source,
    requested: version ?? "",
    version: yml.version || fetched.tag.replace(/^v(?=\d)/, ""),
    ...(fetched.commit === "" ? {} : { commit: fetched.commit }),
    installed_at: new Date(work.now()).toISOString(),
    files,
    permissions: yml.permissions ?? fullGrant,
  };
}

/** At least one command has its program now: the release or the hook may have brought it. */
async function requirePrograms(folder: string, name: string): Promise<void> {
  const { argv, yml } = await readPackage(folder, name);
  const programs = new Set([...argv.values()].map(([program = ""]) => program));
  for (const program of programs) if ((await stat(program).catch(() => undefined))?.isFile() === true) return;
  const wanted = yml.entrypoint ?? "bin/<command>";
  throw new Failure(
    "invalid",
    `"${name}" has no program to run: neither the package nor its release holds ${wanted} for this machine`,
  );
}

/** The version, readable, and something that no other has. */
function idOf({ yml, tag }: Fetched, now: number): string {
  const version = (yml.version || tag || "0")
    .replace(/[^A-Za-z0-9._+-]/g, "-")
    .replace(/^\.+/, "")
    .slice(0, 60);
  return `${version}-${now.toString(36)}${randomBytes(3).toString("hex")}`;
}

/** An update that brings nothing new leaves everything, and so does an apply that asks for the latest each time. */
async function isAsBefore(work: Work, name: string, record: VersionRecord): Promise<boolean> {
  const [state, active] = await Promise.all([readState(work.folders, name), activeOf(work.folders, name)]);
  if (active.type !== "version") return false;
  const before = state?.versions.find(({ id }) => id === active.id);
  if (before === undefined || gist(before) !== gist(record)) return false;
  // What was changed by hand is mended by installing the same again.
  const { faults } = await compareFiles(join(work.folders.versions, name, before.id), before.files);
  return faults.length === 0;
}

function gist({ source, version, requested, permissions, files }: VersionRecord): string {
  const sums = Object.entries(files).map(([path, { sha256 }]) => [path, sha256]);
  return JSON.stringify([source, version, requested, permissions, sums]);
}

/** The record of a folder that was put there by hand. */
async function byHand(work: Work, name: string): Promise<VersionRecord> {
  const folder = join(work.folders.plugins, name);
  const { yml } = await readPackage(folder, name);
  return {
    id: `by-hand-${work.now().toString(36)}`,
    source: "",
    requested: "",
    version: yml.version,
    installed_at: new Date(work.now()).toISOString(),
    files: await lockFiles(folder, work.limits),
    permissions: yml.permissions ?? fullGrant,
  };
}

async function update(
  work: Work,
  { name, version }: { name: string; version: string | undefined },
  how: InstallOptions,
): Promise<Plugin> {
  const plugin = await known(work, name);
  const { origin, lock, yml } = plugin;
  const source = lock?.source ?? "";
  if (origin === "bundled") throw new Failure("conflict", `"${yml.name}" is part of the server and updated with it`);
  if (origin === "linked") throw new Failure("conflict", `"${yml.name}" is linked to ${source}: change it there`);
  if (source === "")
    throw new Failure("conflict", `"${yml.name}" was put there by hand: nobody knows where from; install it`);
  const wish = { source, replace: true, granted: plugin.permissions };
  return install(work, version === undefined ? wish : { ...wish, version }, how);
}

/** For development: the folder is used where it is, as it is at each moment. No hook, no lock. */
function link(work: Work, request: InstallRequest): Promise<Plugin> {
  const { source } = request;
  return work.oneByOne(async () => {
    const given = sourceOf(source);
    if (given.type !== "local") throw new Failure("invalid", `only a folder can be linked, "${source}" is none`);
    const folder = await realpath(given.path).catch(() => undefined);
    if (folder === undefined) throw new Failure("not_found", `there is no folder "${given.path}" on the server`);
    if (folder.startsWith(`${await realpath(work.folders.plugins)}/`)) {
      throw new Failure("invalid", `"${folder}" is among the plugins already`);
    }
    const { yml } = await readPackage(folder);
    await checkNames(work, yml, request);
    const active = await activeOf(work.folders, yml.name);
    if (active.type === "folder") await stepAside(work, yml.name, await byHand(work, yml.name));
    await pointTo(work, yml.name, folder);
    return current(work, yml.name);
  });
}
