import { codeOf, diskFailure } from "../../base/wire/disk-failure.ts";
import { ApiError } from "../../base/wire/client.ts";
import type { ErrorData } from "../../base/wire/envelope.ts";
import { Failure } from "../../base/wire/failure.ts";
import { type Arguments, type Flag, parseArguments } from "../basics/arguments.ts";
import type { Target } from "../remote/target.ts";
import type { Command, Context } from "../shell/command.ts";
import { contextOf, type Format, namedByFlags, type Surroundings, targetOf } from "./context.ts";
import { CommandFailure, exitCodes, usageFailure, wrongLine } from "../basics/failures.ts";
import { commandHelp, formatsOf, formatsText, globalFlags, overview } from "../shell/help.ts";
import { narrowed } from "./narrow.ts";
import { ManifestError } from "../manifests/source.ts";
import { isUnread, OutputFailure } from "../basics/output.ts";
import { splitPluginWord } from "./plugin-words.ts";
import { type LocalName, localCommands } from "../basics/local-commands.ts";
import { loaded, verbs } from "./table.ts";
import { printable } from "../basics/style.ts";
import { createTerminal, type Terminal } from "../basics/terminal.ts";

/** Runs one command line (without the program name) and answers with the exit code. */
export async function run(argv: readonly string[], around: Surroundings): Promise<number> {
  const terminal = terminalOf(around);
  const words = splitColon(argv);
  let json = asksForJson(argv);
  let signal: AbortSignal | undefined;
  try {
    const before = parseArguments(words, [...globalFlags, ...earlyFlags], { stopAtWord: 1 });
    if (before.on("version")) return say(terminal, `berth ${around.version}`);
    const [verb, ...rest] = before.words;
    if (verb === undefined) return say(terminal, overview(verbs, localCommands, terminal));
    const local = findLocal(before.words);
    if (local !== undefined) return await runLocal(local, before, around);
    const first = verbs.find(({ name }) => name === verb);
    if (first === undefined) {
      signal = around.interruptible();
      const stop = signal;
      const format = json ? "json" : outputOf(before);
      const context = () =>
        contextOf(before, { format, terminal, around, signal: stop, target: targetOf(before, around, false) });
      if (verb === "help") return await help(rest, context, { terminal, around });
      const { runPluginWords } = await import("./plugin-command.ts");
      const [asksHelp, yes] = [before.on("help"), before.on("yes")];
      return await runPluginWords(context(), {
        plugin: verb,
        words: rest,
        help: asksHelp,
        yes,
        bundled: around.bundled,
      });
    }
    const { command, rest: own } = narrowed(await loaded(first), rest);
    const args = argumentsOf(command, [...flagTokens(before), ...own], verb);
    if (asksForHelp(command, args)) return say(terminal, commandHelp(command, terminal));
    const format = outputOf(args, command);
    json = format === "json";
    signal = around.interruptible();
    const { allServers = false } = command;
    if (allServers && Object.keys(namedByFlags(args)).length > 0)
      throw usageFailure(`${verb} takes names as words, without -r and --endpoint`);
    const [target, parts] = [targetOf(args, around, allServers), { format, around, signal }];
    if (target.type !== "group") return await command.run(contextOf(args, { ...parts, terminal, target }), args);
    const stop = signal;
    const { runOnGroup } = await import("./group.ts");
    const group = {
      contextOf: (one: Target, own: Terminal) => contextOf(args, { ...parts, terminal: own, target: one }),
      tell: (error: unknown) => tell(error, stop.aborted),
    };
    return await runOnGroup({ ...group, command, args, terminal, json, signal: stop }, target);
  } catch (error) {
    return failed(error, { json, terminal, interrupted: signal?.aborted ?? false });
  }
}

function terminalOf({ options, streams }: Surroundings): Terminal {
  const colors = {
    stdout: options({}, streams.stdoutIsTerminal).color,
    stderr: options({}, streams.stderrIsTerminal).color,
  };
  return createTerminal(streams, colors);
}

async function runLocal({ name, rest }: LocalWords, before: Arguments, { local }: Surroundings): Promise<number> {
  const remote = before.value("remote");
  if (remote !== undefined && name === "move")
    throw usageFailure(`move runs on the machine of the server; type: ssh -A ${remote} berth move ${rest.join(" ")}`);
  if (remote !== undefined) throw usageFailure(`${name} works on its own machine: leave out -r`);
  return local[name](before.on("help") ? ["--help"] : rest);
}

/** A group of narrower commands has nothing to do by itself. */
function asksForHelp(command: Command, args: Arguments): boolean {
  return args.on("help") || (command.usage.length === 0 && args.words.length === 0);
}

function argumentsOf(command: Command, words: string[], verb: string): Arguments {
  const { restFromWord: stopAtWord } = command;
  const [name = verb] = /^[a-z][a-z-]*(?: [a-z][a-z-]*)*/.exec(command.usage[0] ?? "") ?? [];
  return parseArguments(words, [...command.flags, ...globalFlags], { command: name, stopAtWord });
}

/** Flags that may stand before the verb beside the global ones. */
const earlyFlags: readonly Flag[] = [
  { name: "version", summary: "" },
  { name: "yes", short: "y", summary: "" },
];

/** `config:set` is `config set`; only the first word is split, and not where it is the value of a flag before it. */
function splitColon(argv: readonly string[]): string[] {
  const index = argv.findIndex((word, at) => !word.startsWith("-") && !takesValue(argv[at - 1]));
  const split = index === -1 ? [] : splitPluginWord(argv[index] ?? "");
  return index === -1 ? [...argv] : [...argv.slice(0, index), ...split, ...argv.slice(index + 1)];
}

function takesValue(flag: string | undefined): boolean {
  return globalFlags.some(({ name, short, value }) => {
    return value !== undefined && (flag === `--${name}` || (short !== undefined && flag === `-${short}`));
  });
}

interface LocalWords {
  name: LocalName;
  rest: string[];
}

/** A command of the machine itself has a name of one or two words. */
function findLocal(words: readonly string[]): LocalWords | undefined {
  for (const local of localCommands) {
    const { name } = local;
    const length = name.split(" ").length;
    if (words.slice(0, length).join(" ") !== name) continue;
    const unless: readonly string[] = "unless" in local ? ["", "-h", "--help", ...local.unless] : [];
    const flags: readonly string[] = "unlessFlags" in local ? local.unlessFlags : [];
    if (words.some((word) => flags.some((flag) => word === flag || word.startsWith(`${flag}=`)))) continue;
    if (!unless.includes(words[length] ?? "")) return { name, rest: words.slice(length) };
  }
  return undefined;
}

interface Place {
  terminal: Terminal;
  around: Surroundings;
}

/** `help VERB`, and of plugins `help pg`, `help pg:psql` and `help pg psql`. */
async function help(words: readonly string[], context: () => Context, { terminal, around }: Place): Promise<number> {
  const [verb, ...rest] = words.flatMap((word, index) => (index === 0 ? splitPluginWord(word) : [word]));
  if (verb === undefined) return say(terminal, overview(verbs, localCommands, terminal));
  const local = findLocal([verb, ...rest]);
  if (local !== undefined) return around.local[local.name](["--help"]);
  const known = verbs.find(({ name }) => name === verb);
  if (known === undefined) {
    const { pluginHelp } = await import("./plugin-command.ts");
    return pluginHelp(context(), { typed: verb, bundled: around.bundled, command: rest[0] });
  }
  const { command } = narrowed(await loaded(known), rest);
  return say(terminal, commandHelp(command, terminal));
}

function say(terminal: Terminal, text: string): number {
  terminal.out(text);
  return exitCodes.done;
}

/** Global flags that stood before the verb, as tokens again. */
function flagTokens(args: Arguments): string[] {
  const tokens = globalFlags.flatMap(({ name }) => args.values(name).map((value) => `--${name}=${value}`));
  return args.on("yes") ? [...tokens, "--yes"] : tokens;
}

type Formats = Pick<Command, "name" | "yaml" | "names">;

function outputOf(args: Arguments, command: Formats = { name: "" }): Format {
  const written = args.value("output") ?? "text";
  const format = formatsOf(command).find((known) => known === written);
  if (format !== undefined) return format;
  const of = command.name === "" ? "" : ` of ${command.name}`;
  throw usageFailure(`no output format "${written}"${of}: ${formatsText(command)}`);
}

/** So that faults of the command line itself come out as JSON too. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return / (?:-o ?=?|--output[ =])json /.test(` ${(end === -1 ? argv : argv.slice(0, end)).join(" ")} `);
}

function failed(
  error: unknown,
  { json, terminal, interrupted }: { json: boolean; terminal: Terminal; interrupted: boolean },
): number {
  // A reader that has seen enough (`| head`) is not a failure.
  if (isUnread(error)) return exitCodes.done;
  const { message, exitCode, data } = tell(error, interrupted);
  if (json) terminal.out(JSON.stringify({ status: "error", error: message, ...data }, null, 2));
  // A message that starts with a place stays bare, so that editors and terminals can jump there.
  else terminal.note(startsWithPlace.test(message) ? message : `${terminal.noteStyle.red("error:")} ${message}`);
  return exitCode;
}

const startsWithPlace = /^[^\n]*?:\d+:\d+: /;

function tell(error: unknown, interrupted: boolean): { message: string; exitCode: number; data?: ErrorData } {
  if (error instanceof CommandFailure) return { message: error.message, exitCode: error.exitCode, data: error.data };
  // What breaks off under Ctrl-C breaks in many ways; none of them is news.
  if (interrupted) return { message: "interrupted", exitCode: exitCodes.interrupted };
  if (error instanceof ApiError) return { message: withNext(error), exitCode: exitCodes.failed, data: error.data };
  if (error instanceof ManifestError || error instanceof Failure || error instanceof OutputFailure) {
    return { message: error.message, exitCode: exitCodes.failed };
  }
  const disk = diskText(error);
  if (disk !== undefined) return { message: disk, exitCode: exitCodes.failed };
  const line = wrongLine(error);
  if (line !== undefined) return { message: line, exitCode: exitCodes.usage };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message: `this is a bug in berth, please report it: ${text}`, exitCode: exitCodes.failed };
}

/** What the disk refused, where the command has no better word for it. */
function diskText(error: unknown): string | undefined {
  if (!(error instanceof Error) || codeOf(error) === undefined) return undefined;
  const path = "path" in error && typeof error.path === "string" ? error.path : undefined;
  const failure = path === undefined ? undefined : diskFailure(error, path);
  if (failure instanceof Failure) return failure.message;
  return ["ENOSPC", "EDQUOT"].includes(codeOf(error) ?? "")
    ? "no space left on the disk: free some disk space"
    : undefined;
}

/** With the next command, where there is one whatever was asked for. */
function withNext({ message, data }: ApiError): string {
  const { lock, scope, example } = data.fields ?? {};
  if (data.reason === "Locked") return `${message}\n  take changes again: berth unlock ${printable(String(lock))}`;
  if (data.reason !== "NameIsScope") return message;
  const next = example === undefined ? `; see: berth get ${scope}` : `, for example: ${example}`;
  return `${message}\n  ${printable(`"${scope}" is a scope: write SCOPE/NAME${next}`)}`;
}
