import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { Failure, problemsFailure } from "../../base/wire/failure.ts";
import type { PluginCommand, PluginYml } from "../api/plugins/plugin-yml.ts";
import { isCommandName } from "../core/plugin-names.ts";
import { readPluginYml } from "../core/plugins/plugin-yml.ts";

/** A folder that holds a plugin, as read. */
export interface PluginPackage {
  yml: PluginYml;
  /** Command → the first words of its argv, the program absolute. Also of programs that are not there yet. */
  argv: ReadonlyMap<string, readonly string[]>;
}

/** Where a plugin's programs lie; the first wins. */
const programFolders = ["bin", "commands"] as const;
const ymlBytesMax = 256 * 1024;
const programsMax = 500;

/**
 * Reads what lies in `folder` (absolute): plugin.yml, and the programs of its commands. `name` is what a plugin is
 * called that does not say it itself. Fails `invalid` with every fault, each with its path.
 */
export async function readPackage(folder: string, name = basename(folder)): Promise<PluginPackage> {
  const text = await readYml(folder);
  // The parser is loaded when there is something to parse: most servers have no other plugins than the bundled ones.
  const { parsePluginYml } = await import("./yaml.ts");
  const { value, fault } = parsePluginYml(text ?? "");
  if (fault !== undefined) throw new Failure("invalid", `plugin.yml ${fault}`);
  const found = await programsOf(folder);
  if (text === undefined && found.size === 0) {
    throw new Failure("invalid", `"${folder}" holds no plugin: neither plugin.yml nor programs in bin/ or commands/`);
  }
  const named = text === undefined ? ((await nameFile(folder)) ?? name) : name;
  const { yml, problems } = readPluginYml(value, named);
  if (problems.length > 0) {
    throw problemsFailure(problems.map(({ path, message }) => ({ path: `plugin.yml ${path}`.trim(), message })));
  }
  const declared = yml.commands;
  const commands = declared.length > 0 ? declared : commandsOf(found, yml.entrypoint);
  return { yml: { ...yml, commands }, argv: argvOf({ ...yml, commands }, folder, found) };
}

/** Programs in the package, by name. An entrypoint that declares nothing has only what it must have. */
function commandsOf(found: ReadonlyMap<string, string>, entrypoint: string | undefined): PluginCommand[] {
  const names = entrypoint === undefined ? [...found.keys()] : [];
  return names.sort().map((name) => ({ name }));
}

function argvOf(yml: PluginYml, folder: string, found: ReadonlyMap<string, string>): Map<string, string[]> {
  const { entrypoint, commands } = yml;
  const words = ({ name }: PluginCommand): string[] | undefined => {
    if (entrypoint !== undefined) return [join(folder, entrypoint), name];
    const program = found.get(name);
    return program === undefined ? undefined : [program];
  };
  return new Map(
    commands.flatMap((command) => {
      const argv = words(command);
      return argv === undefined ? [] : [[command.name, argv]];
    }),
  );
}

/** What a package says of itself; a hook must not have it say something else. */
export async function selfDescription(folder: string): Promise<string> {
  return JSON.stringify([await readYml(folder), await nameFile(folder)]);
}

async function readYml(folder: string): Promise<string | undefined> {
  const path = join(folder, "plugin.yml");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  const [real, root] = await Promise.all([realpath(path), realpath(folder)]);
  // Before it is read: its faults get texts of their own.
  if (!real.startsWith(`${root}/`))
    throw new Failure("invalid", '"plugin.yml" is a link that leads out of the package');
  if (!found.isFile() || found.size > ymlBytesMax) {
    throw new Failure("invalid", `plugin.yml must be a file of at most ${ymlBytesMax / 1024} KiB`);
  }
  return readFile(path, "utf8");
}

/** Files that can be commands: name → absolute path. Hidden ones and the name file are none. */
async function programsOf(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const sub of programFolders) {
    const entries = await readdir(join(folder, sub), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.slice(0, programsMax)) {
      const path = join(folder, sub, entry.name);
      const isNameFile = sub === "commands" && entry.name === "name";
      if (isNameFile || found.has(entry.name) || !isCommandName(entry.name)) continue;
      if ((await stat(path).catch(() => undefined))?.isFile() === true) found.set(entry.name, path);
    }
  }
  return found;
}

/** `commands/name` of packages without a plugin.yml: the name as text, or a script that echoes it. */
async function nameFile(folder: string): Promise<string | undefined> {
  const path = join(folder, "commands/name");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile() || found.size > ymlBytesMax) return undefined;
  for (const line of (await readFile(path, "utf8")).split("\n")) {
    const [, echoed] = /^\s*echo\s+["']?([^"'\s]+)["']?\s*$/.exec(line) ?? [];
    const word = echoed ?? (/^\s*(?:#.*)?$/.test(line) ? undefined : line.trim());
    if (word !== undefined) return word;
  }
  return undefined;
}
