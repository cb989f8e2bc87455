import { lstat, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import { readBlockSchema } from "../core/plugins/block-schema.ts";
import { isFields } from "../../base/pure/fields.ts";
import { commandKeys, pluginYmlKeys } from "../core/plugins/plugin-yml.ts";
import { routesFault } from "../core/plugins/routes.ts";
import { didYouMean } from "../../base/pure/suggest.ts";
import { type PluginPackage, readPackage } from "./package.ts";
import { parsePluginYml } from "./yaml.ts";

interface LintResult {
  /** What would keep it from being installed or run. */
  errors: string[];
  /** What works and could be better. */
  warnings: string[];
}

/**
 * Looks at a package as an author wants to know about it before others do. Nothing of it is run. `verbs` are words of
 * the client, which win over names of plugins.
 */
export async function lintPackage(folder: string, { verbs = [] as readonly string[] } = {}): Promise<LintResult> {
  const result: LintResult = { errors: [], warnings: [] };
  try {
    const found = await readPackage(folder);
    result.warnings.push(...(await keyWarnings(folder)), ...ymlWarnings(found), ...verbWarnings(found, verbs));
    const fault = routesFault(found.yml, []);
    result.errors.push(...(fault === undefined ? [] : [fault]), ...(await programErrors(found, folder)));
    await lintSchemas(found, folder, result);
    await lintPrograms(folder, result);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    result.errors.push(...error.message.split("\n"));
  }
  return result;
}

/** Keys that nothing reads: misspelled, most likely. */
async function keyWarnings(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, "plugin.yml"), "utf8").catch(() => "");
  const { value } = parsePluginYml(text);
  if (!isFields(value)) return ["there is no plugin.yml: without it a plugin has no version, help or permissions"];
  const commands = Array.isArray(value.commands) ? value.commands : [];
  return [
    ...unknownKeys(value, pluginYmlKeys, "plugin.yml"),
    ...commands.flatMap((command, index) => unknownKeys(command, commandKeys, `plugin.yml commands[${index}]`)),
    ...unknownKeys(value.permissions, ["actions", "scopes", "docker", "root"], "plugin.yml permissions"),
    ...unknownKeys(value.requires, ["version", "programs"], "plugin.yml requires"),
  ];
}

function unknownKeys(value: unknown, known: readonly string[], place: string): string[] {
  if (!isFields(value)) return [];
  const keys = Object.keys(value).filter((key) => !known.includes(key));
  return keys.map((key) => `${place}: nothing reads "${key}"${didYouMean(key, known)}`);
}

function ymlWarnings({ yml }: PluginPackage): string[] {
  const expands = yml.commands.some(({ name }) => name === "expand");
  const helpless = yml.commands.filter(({ name, help }) => help === undefined && name !== "expand");
  const checks: [boolean, string][] = [
    [yml.version === "", "plugin.yml has no version: two versions look the same"],
    [yml.description === "", "plugin.yml has no description: lists show nothing about it"],
    [yml.permissions === undefined, "plugin.yml has no permissions: everything is granted at install"],
    [yml.protocol === undefined, "plugin.yml has no protocol: a server that speaks another one cannot tell"],
    [
      expands && yml.schema === undefined,
      "there is no schema for its blocks: operators learn of mistakes from the plugin",
    ],
    [helpless.length > 0, `no help for ${helpless.map(({ name }) => name).join(", ")}`],
    [yml.commands.length === 0, "it has no commands"],
  ];
  return checks.flatMap(([isTrue, text]) => (isTrue ? [text] : []));
}

function verbWarnings({ yml }: PluginPackage, verbs: readonly string[]): string[] {
  const hidden = [yml.name, ...yml.aliases].filter((word) => verbs.includes(word));
  return hidden.map((word) => `"${word}" is a command of berth: the plugin's own are not reached by that name`);
}

async function programErrors({ yml, argv }: PluginPackage, folder: string): Promise<string[]> {
  const missing = yml.commands.filter(({ name }) => !argv.has(name)).map(({ name }) => name);
  const errors = missing.map(
    (name) => `the command "${name}" has no program: neither bin/${name} nor commands/${name}`,
  );
  const { entrypoint } = yml;
  if (entrypoint === undefined) return errors;
  const found = await stat(join(folder, entrypoint)).catch(() => undefined);
  if (found?.isFile() !== true) return [...errors, `the entrypoint "${entrypoint}" is not there: build it first`];
  return (found.mode & 0o111) === 0
    ? [...errors, `the entrypoint "${entrypoint}" is not executable: chmod +x it`]
    : errors;
}

async function lintSchemas({ yml }: PluginPackage, folder: string, result: LintResult): Promise<void> {
  for (const [kind, file] of Object.entries(yml.schema ?? {})) {
    if (!yml.kinds.includes(kind)) result.warnings.push(`schema.${kind}: "${kind}" is none of its kinds`);
    try {
      const { problems, unread } = readBlockSchema(JSON.parse(await readFile(join(folder, file), "utf8")));
      result.errors.push(...problems.map(({ path, message }) => `${file} ${path}: ${message}`));
      result.warnings.push(...unread.map((path) => `${file} ${path} has no effect`));
    } catch (error) {
      result.errors.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** The installer makes them executable; a linked folder and one that is dropped in are used as they are. */
async function lintPrograms(folder: string, { errors, warnings }: LintResult): Promise<void> {
  const programs = ["install", "uninstall"];
  for (const sub of ["bin", "commands"]) {
    const names = await readdir(join(folder, sub)).catch((): string[] => []);
    programs.push(...names.map((name) => `${sub}/${name}`));
  }
  for (const program of programs) {
    const path = join(folder, program);
    const own = await lstat(path).catch(() => undefined);
    if (own === undefined || own.isDirectory()) continue;
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) errors.push(`${program} is a link to nowhere`);
    else if ((found.mode & 0o111) === 0) warnings.push(`${program} is not executable: chmod +x it`);
  }
}
