import { type ActionType, actionTypes } from "../../api/plugins/action.ts";
import type { Problem } from "../../../base/wire/failure.ts";
import { coreKinds } from "../../api/manifest.ts";
import {
  commandAccess,
  type PluginCommand,
  type PluginPermissions,
  type PluginYml,
  protocolVersion,
} from "../../api/plugins/plugin-yml.ts";
import { durationForm, parseDuration } from "../../../base/pure/duration.ts";
import { type FieldReader, fieldReader } from "./fields.ts";
import { variableFault } from "./own-environment.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { isCommandName, isInside, isPluginName, pluginNameForm } from "../plugin-names.ts";

/** What plugin.yml may say. Other keys are passed over: files written for other servers are read. */
export const pluginYmlKeys: readonly string[] = [
  "name",
  "version",
  "description",
  "homepage",
  "aliases",
  "kinds",
  "entrypoint",
  "commands",
  "env",
  "server_env",
  "routes",
  "protocol",
  "requires",
  "permissions",
  "schema",
  "attend",
  "backup",
  "conf",
];
export const commandKeys: readonly string[] = [
  "name",
  "help",
  "usage",
  "timeout",
  "long",
  "destructive",
  "exclusive",
  "reads",
  "reveals",
  "access",
];

const envName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/**
 * The content of a plugin.yml, parsed, completed with its defaults, and every fault of it. `folder` names a plugin
 * without a name. Scalars of text fields must come as they were written: `version: 0.10` is not a number.
 */
export function readPluginYml(value: unknown, folder: string): { yml: PluginYml; problems: Problem[] } {
  const problems: Problem[] = [];
  const read = fieldReader(value ?? {}, "", problems);
  const name = read.text("name") ?? folder;
  const aliases = read.names("aliases") ?? [];
  const kinds = read.names("kinds") ?? [name, ...aliases];
  const yml: PluginYml = {
    name,
    version: read.text("version") ?? "",
    description: read.text("description") ?? "",
    homepage: read.text("homepage") ?? "",
    aliases,
    kinds,
    commands: readCommands(read.list("commands") ?? [], problems),
    env: read.texts("env") ?? {},
    ...given("server_env", readServerEnv(read, problems)),
    ...given("entrypoint", read.path("entrypoint")),
    ...given("protocol", read.whole("protocol")),
    ...given("requires", readRequires(read, problems)),
    ...given("permissions", readPermissions(read, problems)),
    ...given("schema", readSchema(read, value, { kinds, problems })),
    ...given("attend", readAttend(read, problems)),
    ...given("backup", readBackup(read, problems)),
    ...given("conf", readConf(read, problems)),
    ...given("routes", readRoutes(read, problems)),
  };
  problems.push(...nameProblems(yml), ...environmentProblems(yml), ...protocolProblems(yml), ...routeProblems(yml));
  if (yml.backup !== undefined && yml.permissions !== undefined && yml.permissions.backup !== true)
    problems.push({ path: "permissions.backup", message: "its backup commands need this permission: backup: true" });
  return { yml, problems };
}

function given<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

function nameProblems(yml: PluginYml): Problem[] {
  const problems: Problem[] = [];
  if (!isPluginName(yml.name))
    problems.push({ path: "name", message: `"${yml.name}" is not a valid name: ${pluginNameForm}` });
  for (const [path, words] of Object.entries({ name: [yml.name], aliases: yml.aliases, kinds: yml.kinds })) {
    // A block of such a kind would never reach the plugin.
    const taken = words.find(isCoreKind);
    if (taken !== undefined) problems.push({ path, message: `"${taken}" is a kind of the server itself` });
  }
  return problems;
}

export function isCoreKind(word: string): boolean {
  return word === "app" || coreKinds.some((kind) => kind === word);
}

function environmentProblems({ env }: PluginYml): Problem[] {
  return Object.keys(env)
    .filter((key) => !envName.test(key))
    .map((key) => ({ path: `env.${key}`, message: "is not a valid name of an environment variable" }));
}

/** One segment of a path. Whether it is free is looked at when a plugin is installed: see `routesFault`. */
function routeProblems({ routes }: PluginYml): Problem[] {
  const { prefix } = routes ?? {};
  if (prefix === undefined || isPluginName(prefix)) return [];
  return [{ path: "routes.prefix", message: `"${prefix}" is not one segment of a path: ${pluginNameForm}` }];
}

/** The prefix of this server is looked at when a plugin is installed and run. */
function readServerEnv(read: FieldReader, problems: Problem[]): string[] | undefined {
  const names = read.words("server_env");
  names?.forEach((name, index) => {
    const fault = names.indexOf(name) < index ? "is listed twice" : variableFault(name, "BERTH");
    if (fault !== undefined) problems.push({ path: `server_env[${index}]`, message: `"${name}" ${fault}` });
  });
  return names === undefined || names.length === 0 ? undefined : names;
}

function protocolProblems({ protocol }: PluginYml): Problem[] {
  if (protocol === undefined || protocol === protocolVersion) return [];
  const message = `the plugin speaks protocol ${protocol} and this server ${protocolVersion}; use a version of it that fits`;
  return [{ path: "protocol", message }];
}

function readCommands(items: unknown[], problems: Problem[]): PluginCommand[] {
  const seen = new Set<string>();
  return items.map((item, index) => {
    const at = `commands[${index}]`;
    // A bare word is a command without a help line.
    const read = fieldReader(typeof item === "string" ? { name: item } : item, at, problems);
    const name = read.text("name") ?? "";
    if (!isCommandName(name)) problems.push({ path: `${at}.name`, message: `"${name}" is not a valid command name` });
    else if (seen.has(name)) problems.push({ path: `${at}.name`, message: `"${name}" is declared twice` });
    seen.add(name);
    const timeout = read.text("timeout");
    if (timeout !== undefined && (parseDuration(timeout) ?? 0) <= 0) {
      problems.push({ path: `${at}.timeout`, message: `"${timeout}" is not a time limit; ${durationForm}` });
    }
    return {
      name,
      ...given("help", read.text("help")),
      ...given("usage", readUsage(read, at, problems)),
      ...given("timeout", timeout),
      ...given("long", read.flag("long")),
      ...given("destructive", read.flag("destructive")),
      ...given("exclusive", read.flag("exclusive")),
      ...given("reads", read.flag("reads")),
      ...given("reveals", read.flag("reveals")),
      ...given("access", readAccess(read, at, problems)),
    };
  });
}

function readUsage(read: FieldReader, at: string, problems: Problem[]): string | undefined {
  const usage = read.text("usage")?.trim();
  if (usage?.includes("\n")) problems.push({ path: `${at}.usage`, message: "expected one line: words and flags" });
  return usage === "" ? undefined : usage;
}

function readAccess(read: FieldReader, at: string, problems: Problem[]): PluginCommand["access"] {
  const word = read.text("access");
  const known = commandAccess.find((each) => each === word);
  if (word !== undefined && known === undefined) {
    problems.push({ path: `${at}.access`, message: `"${word}" is not one of ${commandAccess.join(", ")}` });
  }
  return known;
}

function readRequires(read: FieldReader, problems: Problem[]): PluginYml["requires"] {
  const fields = read.map("requires");
  if (fields === undefined) return undefined;
  const inner = fieldReader(fields, "requires", problems);
  const version = inner.text("version");
  if (version !== undefined && versionNumbers(version) === undefined) {
    problems.push({ path: "requires.version", message: `"${version}" is not a version; write it like ">=0.2.0"` });
  }
  const programs = inner.words("programs");
  const bad = programs?.find((program) => !/^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}$/.test(program));
  if (bad !== undefined) problems.push({ path: "requires.programs", message: `"${bad}" is not a program name` });
  return { ...given("version", version), ...given("programs", programs) };
}

/** Whether a server of version `own` (`0.2.0`) fits `requires.version` (`>=0.1.0`, or `0.1.0` for the same). */
export function fitsVersion(wanted: string, own: string): boolean {
  const [least, have] = [versionNumbers(wanted), versionNumbers(own)];
  if (least === undefined || have === undefined) return false;
  const index = least.findIndex((part, at) => part !== have[at]);
  return index === -1 || (have[index] ?? 0) > (least[index] ?? 0);
}

function versionNumbers(text: string): number[] | undefined {
  const [, major, minor, patch] = /^(?:>=\s*)?v?(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?/.exec(text) ?? [];
  return major === undefined ? undefined : [major, minor, patch].map((part) => Number(part ?? 0));
}

/** Actions and the engine that `permissions` leaves out are not granted; scopes are all, until some are named. */
function readPermissions(read: FieldReader, problems: Problem[]): PluginPermissions | undefined {
  const fields = read.map("permissions");
  // A list of permissions that cannot be read must not become none at all, which means everything.
  if (fields === undefined) return read.has("permissions") ? { actions: [], scopes: [], docker: false } : undefined;
  const inner = fieldReader(fields, "permissions", problems);
  const actions = (inner.words("actions") ?? []).flatMap((word): ActionType[] => {
    const known = actionTypes.find((type) => type === word);
    if (known !== undefined) return [known];
    const message = `unknown action "${word}"; known are ${actionTypes.join(", ")}`;
    problems.push({ path: "permissions.actions", message });
    return [];
  });
  const scopes = inner.words("scopes") ?? ["*"];
  const optional = { ...given("root", inner.flag("root")), ...given("backup", inner.flag("backup")) };
  return { actions, scopes, docker: inner.flag("docker") ?? false, ...optional };
}

/** A path is the schema of every kind; a map has one for each. */
function readSchema(
  read: FieldReader,
  value: unknown,
  { kinds, problems }: { kinds: readonly string[]; problems: Problem[] },
): Record<string, string> | undefined {
  if (!read.has("schema")) return undefined;
  const written = isFields(value) ? value.schema : undefined;
  const files =
    typeof written === "string" ? Object.fromEntries(kinds.map((kind) => [kind, written])) : read.texts("schema");
  for (const [kind, file] of Object.entries(files ?? {})) {
    if (!isInside(file)) problems.push({ path: `schema.${kind}`, message: "expected a path inside the package" });
  }
  return files;
}

function readAttend(read: FieldReader, problems: Problem[]): PluginYml["attend"] {
  const fields = read.map("attend");
  if (fields === undefined) return undefined;
  const inner = fieldReader(fields, "attend", problems);
  const command = inner.text("command") ?? "attend";
  const unready = inner.text("unready") ?? "5s";
  if (!isCommandName(command))
    problems.push({ path: "attend.command", message: `"${command}" is not a valid command name` });
  if ((parseDuration(unready) ?? 0) < 1_000) {
    problems.push({
      path: "attend.unready",
      message: `"${unready}" is not a duration of at least 1s; ${durationForm}`,
    });
  }
  return { command, unready };
}

const expectedCommand = 'expected a program and its arguments, like ["pg_dump", "-Fc"]';

function readBackup(read: FieldReader, problems: Problem[]): PluginYml["backup"] {
  const fields = read.map("backup");
  if (fields === undefined) return undefined;
  const inner = fieldReader(fields, "backup", problems);
  const commandOf = (name: string, isNeeded = inner.has(name)) => {
    const words = inner.words(name) ?? [];
    if (words.length === 0 && isNeeded) problems.push({ path: `backup.${name}`, message: expectedCommand });
    return words;
  };
  const [dump, check, restore] = [commandOf("dump", true), commandOf("check"), commandOf("restore", true)];
  return { dump, restore, ...given("check", check.length === 0 ? undefined : check) };
}

function readConf(read: FieldReader, problems: Problem[]): string[] | undefined {
  const paths = read.words("conf");
  const bad = paths?.find((path) => !isInside(path) || /^(?:bin|commands)(?:\/|$)/.test(path));
  if (bad !== undefined) {
    const message = `"${bad}" cannot hold configuration: use a path inside the package, outside of bin and commands`;
    problems.push({ path: "conf", message });
  }
  return paths;
}

function readRoutes(read: FieldReader, problems: Problem[]): PluginYml["routes"] {
  const fields = read.map("routes");
  if (fields === undefined) return undefined;
  const inner = fieldReader(fields, "routes", problems);
  const port = inner.whole("port");
  if (port !== undefined && (port < 1 || port > 65_535)) {
    problems.push({ path: "routes.port", message: `${port} is not a port; use 1 to 65535` });
  }
  return {
    ...given("prefix", inner.text("prefix")),
    ...given("port", port),
    ...given("port_env", inner.text("port_env")),
  };
}
