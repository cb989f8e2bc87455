import { ApiError } from "../../base/wire/client.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { listManifests } from "../../orchestration/api/apply.ts";
import { type DispatchResult, dispatchPlugin } from "../../orchestration/api/dispatch.ts";
import { listPlugins, type PluginInfo } from "../../orchestration/api/plugins.ts";
import { namedApp, namedPlace } from "../../orchestration/core/plugins/named-app.ts";
import { requireYes } from "../shell/ask.ts";
import { nameMeant } from "../shell/named.ts";
import type { Context } from "../shell/command.ts";
import { runLocally } from "./exec-local.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { fetchFiles } from "./fetch-file.ts";
import { type DeclaredPlugin, pluginCommandHelp, pluginHelpText } from "../text/plugin-text.ts";
import { callWithProgress, warn } from "../shell/progress-answer.ts";
import { printable } from "../basics/style.ts";
import { commandMeant, didYouMean } from "../basics/suggest.ts";
import { wrapText } from "../basics/table-text.ts";
import { localCommands } from "../basics/local-commands.ts";
import { withZone } from "./plugin-words.ts";
import { verbs } from "./table.ts";

export interface PluginWords {
  /** The first word, which is not a verb of the client. */
  plugin: string;
  /** All that follow, as the operator wrote them. */
  words: readonly string[];
  /** `-h` before the first word. */
  help: boolean;
  /** `--yes` before the first word. */
  yes: boolean;
  bundled: Bundled;
}

/** The plugins of this executable: what they declare is known without a server. */
type Bundled = () => Promise<readonly DeclaredPlugin[]>;

interface Explained {
  /** The plugin, as the operator wrote it. */
  typed: string;
  bundled: Bundled;
  command?: string | undefined;
}

/**
 * `berth PLUGIN COMMAND WORDS…`: everything after the command is the plugin's own, `-h` and `-o json` included.
 * Throws a usage failure where nothing of that name is installed.
 */
export async function runPluginWords(
  context: Context,
  { plugin: typed, words, help, yes, bundled }: PluginWords,
): Promise<number> {
  const [command, ...rest] = words;
  if (help || command === undefined || (words.length === 1 && isHelpFlag(command))) {
    return helpOf(context, { typed, bundled });
  }
  // Whether the plugin would only help is its own affair: what is destructive is not run to find out.
  if (asksForHelp(rest, yes) && (await isExplained(context, { typed, bundled, command }))) {
    return pluginHelp(context, { typed, bundled, command });
  }
  const plugin = await pluginNamed(context, typed);
  await confirmDestructive(context, plugin, { typed, command, words: rest, yes });
  const call = { params: { name: typed, command }, body: { args: rest.map(withZone) } };
  if (context.json) {
    const data = await context.api.call(dispatchPlugin, call).catch(withExitCode([]));
    context.terminal.out(JSON.stringify({ status: "ok", data }, null, 2));
    return exitCodes.done;
  }
  const broken = "while the plugin was running; see: berth plugins runs";
  const said: string[] = [];
  const onLine = (line: string) => void said.push(line);
  const result = await callWithProgress(context, dispatchPlugin, { input: call, broken, onLine }).catch(
    withExitCode(said),
  );
  tell(context, result, said);
  const wish = { commands: result.exec_local ?? [], plugin: plugin.name, app: namedApp(rest), yes };
  const code = await runLocally(context, wish);
  if (code !== 0) return code;
  await fetchFiles(context, result.fetch_file ?? [], { runId: result.run_id, words: rest, yes });
  return exitCodes.done;
}

/** A plugin that failed ends the client with its own exit code; what it `said` on stderr was shown as it came. */
function withExitCode(said: readonly string[]): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ApiError) || error.data.reason !== "PluginExited") throw error;
    const { plugin, command, exit_code: code, output = "" } = error.data.fields ?? {};
    const how = Number(code) === 0 ? "failed" : `exited ${code}`;
    const head = `plugin "${plugin}" ${command} ${how}`;
    // A long text was cut at its beginning, so that the end of a line is that line.
    const isShown = (line: string) => said.some((shown) => shown.trimEnd().endsWith(line.replace(/^…/, "").trimEnd()));
    const rest = String(output)
      .split("\n")
      .filter((line) => !isShown(line));
    throw new CommandFailure(
      [head, ...(rest.length > 0 ? [rest.join("\n")] : [])].join(": "),
      Number(code) || exitCodes.failed,
      error.data,
    );
  };
}

/** `berth help pg` and `berth help pg:psql`: from what the plugin declares; nothing is run. */
export async function pluginHelp(context: Context, { typed, bundled, command }: Explained): Promise<number> {
  const { plugin, isOwn } = await declared(context, { typed, bundled });
  if (isOwn) {
    const text = `no server could be asked: this is the help of the plugin "${plugin.name}" in this executable`;
    context.terminal.note(wrapText(`${context.terminal.noteStyle.yellow("!")} ${text}`, context.terminal.helpWidth));
  }
  if (command === undefined) {
    context.terminal.out(pluginHelpText(plugin, typed, context.terminal));
    return exitCodes.done;
  }
  const known = plugin.commands.find(({ name }) => name === command);
  if (known === undefined) {
    const names = plugin.commands.map(({ name }) => name);
    throw usageFailure(`the plugin "${plugin.name}" has no command "${command}"${didYouMean(command, names)}`);
  }
  const { helpWidth: width } = context.terminal;
  context.terminal.out(pluginCommandHelp(plugin, { command: known, typed, width }));
  return exitCodes.done;
}

/** A plugin that has a command `help` speaks for itself. */
async function helpOf(context: Context, { typed, bundled }: Explained): Promise<number> {
  const { plugin } = await declared(context, { typed, bundled });
  if (!plugin.commands.some(({ name }) => name === "help")) return pluginHelp(context, { typed, bundled });
  const data = await context.api.call(dispatchPlugin, { params: { name: typed, command: "help" }, body: {} });
  context.terminal.out(data.message);
  return exitCodes.done;
}

/** Whether help can be given without running the command. */
async function isExplained(context: Context, { typed, bundled, command = "" }: Explained): Promise<boolean> {
  const { plugin } = await declared(context, { typed, bundled });
  return plugin.commands.some((one) => one.name === command && (one.usage !== undefined || one.destructive === true));
}

/** As the server has it; where that cannot be asked, as this executable has it. */
async function declared(
  context: Context,
  { typed, bundled }: Explained,
): Promise<{ plugin: DeclaredPlugin; isOwn: boolean }> {
  try {
    return { plugin: await pluginNamed(context, typed), isOwn: false };
  } catch (error) {
    const own = findPlugin(await bundled(), typed);
    if (own === undefined || !(error instanceof Error) || context.signal.aborted) throw error;
    return { plugin: own, isOwn: true };
  }
}

function findPlugin<P extends DeclaredPlugin>(plugins: readonly P[], typed: string): P | undefined {
  return plugins.find(({ name }) => name === typed) ?? plugins.find(({ aliases }) => aliases.includes(typed));
}

async function pluginNamed(context: Context, typed: string): Promise<PluginInfo> {
  const { plugins, errors } = await installed(context, typed);
  const found = findPlugin(plugins, typed);
  if (found !== undefined) return found;
  const fault = errors.find((text) => text.startsWith(`${typed}: `));
  if (fault !== undefined) throw new CommandFailure(`plugin ${fault}`, exitCodes.failed);
  const words = plugins.flatMap(({ name, aliases }) => [name, ...aliases]);
  throw unknownCommand(typed, [...knownVerbs(), ...words]);
}

/** A mistyped verb is reported as such even if no server can be asked about plugins. */
async function installed(context: Context, typed: string): Promise<DataOf<typeof listPlugins>> {
  try {
    return await context.api.call(listPlugins);
  } catch (error) {
    const isAway = error instanceof CommandFailure && error.exitCode === exitCodes.unreachable;
    const isOld = error instanceof ApiError && error.status === 404;
    const hint = commandMeant(typed, knownVerbs());
    if (isOld || (isAway && hint !== "")) throw unknownCommand(typed, knownVerbs());
    if (isAway)
      throw new CommandFailure(
        `"${typed}" is not a command of berth, and the server that knows the plugins' cannot be asked:\n${error.message}`,
        error.exitCode,
      );
    throw error;
  }
}

function knownVerbs(): string[] {
  return [...verbs, ...localCommands].map(({ name }) => name);
}

function unknownCommand(word: string, known: readonly string[]): CommandFailure {
  return usageFailure(`unknown command "${word}"${commandMeant(word, known) || "; see: berth help"}`);
}

const isHelpFlag = (word: string | undefined): boolean => word === "-h" || word === "--help";

/** `-h` beside other words can be a flag of the plugin's own; `--help` is nothing else. With yes, the plugin answers. */
function asksForHelp(words: readonly string[], yes: boolean): boolean {
  if (words.length === 1) return isHelpFlag(words[0]);
  return ownWords(words).includes("--help") && !saysYes(words, yes);
}

/** The plugin's own --yes means the same. */
function saysYes(words: readonly string[], yes: boolean): boolean {
  const own = ownWords(words);
  return yes || own.includes("--yes") || own.includes("-y");
}

/** What stands behind `--` is for another program. */
function ownWords(words: readonly string[]): readonly string[] {
  return words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
}

function isDestructive({ commands: declared }: PluginInfo, command: string): boolean {
  return declared.some(({ name, destructive }) => name === command && destructive === true);
}

interface Destructive {
  /** The plugin, as the operator wrote it. */
  typed: string;
  command: string;
  words: readonly string[];
  yes: boolean;
}

async function confirmDestructive(
  context: Context,
  plugin: PluginInfo,
  { typed, command, words, yes }: Destructive,
): Promise<void> {
  if (!isDestructive(plugin, command) || saysYes(words, yes)) return;
  await requireMeant(context, words);
  const what = [`${typed}:${command}`, ...words].map(printable).join(" ");
  const text = `Run "${what}"? Its plugin says that it is destructive.`;
  await requireYes(context, { text, yes: false, way: "add --yes" });
}

/** Fails where the words name a resource that is not stored, and one of nearly that name is. */
async function requireMeant(context: Context, words: readonly string[]): Promise<void> {
  const place = namedPlace(words);
  if (place === undefined) return;
  // Where the server cannot say what is stored, the plugin finds out.
  const stored = await context.api.call(listManifests, { query: place }).catch(() => undefined);
  if (stored?.length !== 0) return;
  const reference = `${place.scope}/${place.name}`;
  const meant = await nameMeant(reference, context);
  if (meant !== "") throw new CommandFailure(printable(`nothing is stored under "${reference}"${meant}`));
}

/** A program that reads stdout gets the message there, also where the plugin has said it on stderr as well. */
function tell(context: Context, { message, applied, warnings = [] }: DispatchResult, said: readonly string[]): void {
  const { terminal } = context;
  const seen = terminal.interactive && terminal.live ? said.map((line) => line.trimEnd()) : [];
  const isSeen = harmless(message)
    .split("\n")
    .every((line) => seen.includes(line.trimEnd()));
  if (message !== "" && !isSeen) terminal.out(harmless(message));
  for (const label of applied) terminal.note(`${terminal.noteStyle.green("✓")} ${printable(label)}`);
  warn(context, warnings);
}

/** Text of several lines that cannot drive the terminal. */
function harmless(text: string): string {
  return text
    .split("\n")
    .map((line) => line.split("\t").map(printable).join("\t"))
    .join("\n")
    .replace(/[ \n]+$/, "");
}
