import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { PluginYml } from "../api/plugins/plugin-yml.ts";
import { isPluginName, pluginNameForm } from "../core/plugin-names.ts";
import { readPackage } from "./package.ts";
import { askedBy, type BundledPlugin, grantedBy, type LockRecord, type Plugin, type Registry } from "./plugin.ts";

interface RegistryOptions {
  /** `<root>/plugins`. */
  folder: string;
  bundled: readonly BundledPlugin[];
  /** `.state/<name>.json`; undefined where nothing was written down. Fails when it cannot be read. */
  readLock: (name: string) => Promise<LockRecord | undefined>;
  /** Told when what lies in the folder is not what it was. */
  onChange?: (names: string[]) => void;
}

/** More folders than this are a mistake. */
const pluginsMax = 200;

interface Entry {
  name: string;
  /** Changes whenever something that is read here does. */
  mark: string;
}

interface Known extends Entry {
  plugin: Plugin | undefined;
  error: string | undefined;
}

/** Reads `<root>/plugins` and keeps what it read for as long as the marks of the files say the same. */
export function createRegistry(options: RegistryOptions): Registry {
  let known = new Map<string, Known>();
  let view = viewOf([]);
  let reading: Promise<void> | undefined;

  const read = async () => {
    const entries = entriesOf(options);
    const isSame =
      entries.length === known.size && entries.every((entry) => known.get(entry.name)?.mark === entry.mark);
    if (isSame) return;
    const next = await Promise.all(entries.map(async (entry) => stillKnown(known, entry) ?? load(options, entry)));
    const moved = next.filter(({ name, mark }) => known.get(name)?.mark !== mark).map(({ name }) => name);
    const gone = [...known.keys()].filter((name) => next.every((entry) => entry.name !== name));
    known = new Map(next.map((entry) => [entry.name, entry]));
    view = viewOf(next);
    options.onChange?.([...moved, ...gone]);
  };
  return {
    refresh() {
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    list: () => view,
    find: (word) => view.byName.get(word) ?? view.byAlias.get(word),
    ofKind(kind) {
      const plugin = view.byKind.get(kind);
      return plugin?.argv.has("expand") === true ? plugin : undefined;
    },
  };
}

function stillKnown(known: ReadonlyMap<string, Known>, { name, mark }: Entry): Known | undefined {
  const before = known.get(name);
  return before?.mark === mark ? before : undefined;
}

/** Folders and links that may be plugins, bundled ones included: they have a state of their own. Dot names are none. */
function entriesOf({ folder, bundled }: RegistryOptions): Entry[] {
  const there = new Set(namesIn(folder));
  const found = [...there].filter((name) => !name.startsWith(".") && mayBePlugin(join(folder, name)));
  const installed = namesIn(join(folder, ".state")).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []);
  const names = new Set([...found, ...installed.filter(isPluginName), ...bundled.map(({ yml }) => yml.name)]);
  return [...names]
    .sort()
    .slice(0, pluginsMax)
    .map((name) => ({ name, mark: there.has(name) ? markOf(folder, name) : stampOfState(folder, name) }));
}

function mayBePlugin(path: string): boolean {
  return isFolder(path) || isLink(path);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // It is gone, or a link that leads nowhere, or in a circle.
    return false;
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** A broken link has a mark too, so that it is reported. */
function markOf(folder: string, name: string): string {
  const own = lstatSync(join(folder, name), { throwIfNoEntry: false });
  const read = ["", "plugin.yml", "bin", "commands"].map((part) => stampOf(join(folder, name, part)));
  return [own?.ino, own?.mtimeMs, ...read, stampOfState(folder, name)].join(" ");
}

function stampOfState(folder: string, name: string): string {
  return stampOf(join(folder, ".state", `${name}.json`));
}

function stampOf(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? "-" : `${stat.ino}:${stat.mtimeMs}:${stat.size}`;
  } catch (error) {
    // A link that leads in a circle, or a folder that may not be entered.
    return error instanceof Error && "code" in error ? String(error.code) : "?";
  }
}

async function load(options: RegistryOptions, entry: Entry): Promise<Known> {
  const { name } = entry;
  try {
    if (!isPluginName(name)) throw new Error(`the folder's name is not a valid plugin name: ${pluginNameForm}`);
    const path = join(options.folder, name);
    const lock = await options.readLock(name);
    const bundled = options.bundled.find(({ yml }) => yml.name === name);
    const isThere = isFolder(path);
    if (!isThere && isLink(path))
      throw new Error("the link leads to no folder; remove it, or install the plugin again");
    // What was only disabled, or is still on its way in, was never a plugin.
    if (!isThere && bundled === undefined && lock?.previous !== undefined) throw new Error(goneText(path, name));
    const plugin = isThere ? await loadFolder(path, name, lock) : bundledPlugin(options.folder, bundled, lock);
    return { ...entry, plugin, error: undefined };
  } catch (error) {
    return { ...entry, plugin: undefined, error: `${name}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function goneText(path: string, name: string): string {
  const ways = `berth plugins rollback ${name} brings it back, berth plugins remove ${name} forgets it`;
  return `"${path}" is gone, and the plugin does not run: ${ways}`;
}

async function loadFolder(path: string, name: string, lock: LockRecord | undefined): Promise<Plugin> {
  const folder = realpathSync(path);
  const { yml, argv } = await readPackage(folder, name);
  if (yml.name !== name) throw new Error(`plugin.yml calls it "${yml.name}"; rename the folder to that`);
  const programs = Object.keys(lock?.files ?? {}).filter((file) => /^(bin|commands)\//.test(file));
  if (programs.length > 0 && programs.every((file) => !existsSync(join(folder, file)))) {
    throw new Error(`its programs (${programs.slice(0, 5).join(", ")}) are gone: install it again, or roll it back`);
  }
  const permissions = lock?.permissions ?? askedBy(yml);
  return { yml, argv, folder, lock, origin: originOf(path, name), enabled: lock?.enabled !== false, permissions };
}

function originOf(path: string, name: string): Plugin["origin"] {
  if (lstatSync(path).isSymbolicLink() === false) return "folder";
  const target = readlinkSync(path);
  return target.includes(`.versions/${name}/`) ? "installed" : "linked";
}

/** Runs in the folder of all plugins: it has no files of its own. */
function bundledPlugin(folder: string, bundled: BundledPlugin | undefined, lock: LockRecord | undefined) {
  if (bundled === undefined) return undefined;
  const { yml } = bundled;
  const argv = new Map(yml.commands.map(({ name }) => [name, [...bundled.argv, name]]));
  const permissions = grantedBy(yml);
  const schemas = bundled.schemas === undefined ? {} : { schemas: bundled.schemas };
  return {
    yml,
    argv,
    folder,
    lock,
    origin: "bundled" as const,
    enabled: lock?.enabled !== false,
    permissions,
    ...schemas,
  };
}

interface View {
  plugins: readonly Plugin[];
  errors: readonly string[];
  byName: ReadonlyMap<string, Plugin>;
  byAlias: ReadonlyMap<string, Plugin>;
  byKind: ReadonlyMap<string, Plugin>;
}

/** A word that two plugins want stays with the first by name; a bundled one gives way to any other. */
function viewOf(known: readonly Known[]): View {
  const plugins = known.flatMap(({ plugin }) => plugin ?? []);
  const errors = known.flatMap(({ error }) => error ?? []);
  const byName = new Map(plugins.map((plugin) => [plugin.yml.name, plugin]));
  const byAlias = new Map<string, Plugin>();
  const byKind = new Map<string, Plugin>();
  const claim = (taken: Map<string, Plugin>, word: string, plugin: Plugin) => {
    const holder = taken.get(word) ?? byName.get(word);
    if (holder === undefined || holder === plugin) taken.set(word, plugin);
    else if (plugin.origin !== "bundled") errors.push(conflictText(word, plugin.yml, holder.yml));
  };
  const ordered = [...plugins.filter(isOwn), ...plugins.filter((plugin) => !isOwn(plugin))];
  for (const plugin of ordered) {
    for (const alias of plugin.yml.aliases) claim(byAlias, alias, plugin);
    for (const kind of plugin.yml.kinds) claim(byKind, kind, plugin);
  }
  return { plugins, errors: [...new Set(errors)], byName, byAlias, byKind };
}

function isOwn({ origin }: Plugin): boolean {
  return origin !== "bundled";
}

function conflictText(word: string, late: PluginYml, holder: PluginYml): string {
  return `${late.name}: "${word}" is taken by the plugin "${holder.name}"; remove one of them, or its alias`;
}
