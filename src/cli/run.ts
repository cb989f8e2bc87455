import { actorHeader, ApiError, createClient } from "../api/client.ts";
import { Failure } from "../api/failure.ts";
import type { Clock } from "../lib/clock.ts";
import { type Arguments, parseArguments } from "./arguments.ts";
import type { ClientLimits, Command, Context } from "./command.ts";
import { connect, type PlatformFetch } from "./endpoint.ts";
import { CommandFailure, exitCodes, usageFailure } from "./failures.ts";
import { commandHelp, globalFlags, overview } from "./help.ts";
import type { Variables } from "./manifests/interpolate.ts";
import { ManifestError } from "./manifests/source.ts";
import { didYouMean } from "./suggest.ts";
import { commands, type LocalName, localCommands } from "./table.ts";
import type { RawTerminal } from "./raw-terminal.ts";
import { createTerminal, type Streams, type Terminal } from "./terminal.ts";

export interface ClientOptions {
  endpoint: string;
  actor: string;
  color: boolean;
}

/** The world as `main.ts` hands it to the client. */
export interface Surroundings {
  version: string;
  streams: Streams;
  rawTerminal: RawTerminal;
  /** All of stdin. */
  stdin: () => Promise<string>;
  fetch: PlatformFetch;
  clock: Clock;
  limits: ClientLimits;
  variables: Variables;
  cwd: string;
  /** From now on Ctrl-C aborts the signal and does not end the process. */
  interruptible: () => AbortSignal;
  options: (flags: { endpoint?: string }, terminal: boolean) => ClientOptions;
  local: Record<LocalName, (args: string[]) => Promise<number>>;
}

/** Runs one command line (without the program name) and answers with the exit code. */
export async function run(argv: readonly string[], around: Surroundings): Promise<number> {
  const colors = {
    stdout: around.options({}, around.streams.stdoutIsTerminal).color,
    stderr: around.options({}, around.streams.stderrIsTerminal).color,
  };
  const terminal = createTerminal(around.streams, colors);
  const words = splitColon(argv);
  let json = asksForJson(argv);
  let signal: AbortSignal | undefined;
  try {
    const before = parseArguments(words, [...globalFlags, { name: "version", summary: "" }], { stopAtWord: 1 });
    if (before.on("version")) return say(terminal, `berth ${around.version}`);
    const [verb, ...rest] = before.words;
    if (verb === undefined || verb === "help") return await help(rest, terminal, around);
    const local = findLocal(before.words);
    if (local !== undefined) return await around.local[local.name](before.on("help") ? ["--help"] : local.rest);
    const { command, rest: own } = findCommand(verb, rest);
    const { restFromWord: stopAtWord } = command;
    const options = stopAtWord === undefined ? {} : { stopAtWord };
    const args = parseArguments([...flagTokens(before), ...own], [...command.flags, ...globalFlags], options);
    if (args.on("help")) return say(terminal, commandHelp(command, terminal.style));
    json = outputOf(args);
    signal = around.interruptible();
    return await command.run(contextOf(args, { json, terminal, around, signal }), args);
  } catch (error) {
    return failed(error, { json, terminal, interrupted: signal?.aborted ?? false });
  }
}

/** `config:set` is `config set`; only the first word is split. */
function splitColon(argv: readonly string[]): string[] {
  const index = argv.findIndex((word) => !word.startsWith("-"));
  const [, verb, rest] = /^([a-z]+):([a-z:-]+)$/.exec(argv[index] ?? "") ?? [];
  if (verb === undefined || rest === undefined) return [...argv];
  return [...argv.slice(0, index), verb, rest, ...argv.slice(index + 1)];
}

/** A command of the machine itself has a name of one or two words. */
function findLocal(words: readonly string[]): { name: LocalName; rest: string[] } | undefined {
  for (const { name } of localCommands) {
    const length = name.split(" ").length;
    if (words.slice(0, length).join(" ") === name) return { name, rest: words.slice(length) };
  }
  return undefined;
}

/** The narrowest command that the words name, and the words after it. */
function findCommand(verb: string, words: readonly string[]): { command: Command; rest: readonly string[] } {
  const command = commands.find(({ name }) => name === verb);
  if (command !== undefined) return narrowed(command, words, verb);
  const known = [...commands, ...localCommands].map(({ name }) => name);
  throw usageFailure(`unknown command "${verb}"${didYouMean(verb, known) || "; see: berth help"}`);
}

function narrowed(
  command: Command,
  words: readonly string[],
  path: string,
): { command: Command; rest: readonly string[] } {
  const [word, ...rest] = words;
  if (command.commands === undefined || word === undefined || word.startsWith("-")) return { command, rest: words };
  const inner = command.commands.find(({ name }) => name === word);
  if (inner !== undefined) return narrowed(inner, rest, `${path} ${word}`);
  const known = command.commands.map(({ name }) => name);
  throw usageFailure(`"${word}" is no ${path} command${didYouMean(word, known) || `: ${known.join(", ")}`}`);
}

async function help(words: readonly string[], terminal: Terminal, around: Surroundings): Promise<number> {
  const [verb, ...rest] = words;
  const local = localCommands.find(({ name }) => name === verb);
  if (local !== undefined) return around.local[local.name](["--help"]);
  if (verb !== undefined) return say(terminal, commandHelp(findCommand(verb, rest).command, terminal.style));
  return say(terminal, overview(commands, localCommands, terminal.style));
}

function say(terminal: Terminal, text: string): number {
  terminal.out(text);
  return exitCodes.done;
}

/** Global flags that stood before the verb, as tokens again. */
function flagTokens(args: Arguments): string[] {
  return globalFlags.flatMap(({ name }) => args.values(name).map((value) => `--${name}=${value}`));
}

function outputOf(args: Arguments): boolean {
  const format = args.value("output") ?? "text";
  if (format !== "text" && format !== "json") throw usageFailure(`no output format "${format}": text or json`);
  return format === "json";
}

/** So that faults of the command line itself come out as JSON too. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return / (?:-o ?=?|--output[ =])json /.test(` ${(end === -1 ? argv : argv.slice(0, end)).join(" ")} `);
}

interface Parts {
  json: boolean;
  terminal: Terminal;
  around: Surroundings;
  signal: AbortSignal;
}

function contextOf(args: Arguments, { json, terminal, around, signal }: Parts): Context {
  const { clock, limits, variables, cwd, version } = around;
  const flag = args.value("endpoint");
  const options = around.options(flag === undefined ? {} : { endpoint: flag }, around.streams.stdoutIsTerminal);
  const { endpoint, actor } = options;
  const connection = connect({ endpoint, fetch: around.fetch, signal, answerMs: limits.answerMs });
  const headers = {
    [actorHeader]: headerText(actor),
    "User-Agent": `berth/${version}`,
  };
  const { baseUrl } = connection;
  return {
    api: createClient({ baseUrl, fetch: connection.fetch, headers }),
    streams: createClient({ baseUrl, fetch: connection.stream, headers }),
    headers,
    endpoint,
    version,
    terminal,
    rawTerminal: around.rawTerminal,
    clock,
    limits,
    json,
    cwd,
    variables,
    stdin: around.stdin,
    signal,
  };
}

/** Header values are visible ASCII. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}

interface FailureSetting {
  json: boolean;
  terminal: Terminal;
  interrupted: boolean;
}

function failed(error: unknown, { json, terminal, interrupted }: FailureSetting): number {
  const { message, exitCode } = tell(error, interrupted);
  if (json) terminal.out(JSON.stringify({ status: "error", error: message }, null, 2));
  // A message that starts with a place stays bare, so that editors and terminals can jump there.
  else terminal.note(startsWithPlace.test(message) ? message : `${terminal.noteStyle.red("error:")} ${message}`);
  return exitCode;
}

const startsWithPlace = /^[^\n]*?:\d+:\d+: /;

function tell(error: unknown, interrupted: boolean): { message: string; exitCode: number } {
  if (error instanceof CommandFailure) return { message: error.message, exitCode: error.exitCode };
  // What breaks off under Ctrl-C breaks in many ways; none of them is news.
  if (interrupted) return { message: "interrupted", exitCode: exitCodes.interrupted };
  if (error instanceof ApiError || error instanceof ManifestError || error instanceof Failure) {
    return { message: error.message, exitCode: exitCodes.failed };
  }
  if (isWrongLine(error)) return { message: wrongLineText(error), exitCode: exitCodes.usage };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message: `this is a bug in berth, please report it: ${text}`, exitCode: exitCodes.failed };
}

/** What `parseArgs` of the local commands throws. */
function isWrongLine(error: unknown): error is Error {
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}

/** The platform's text in our style: its first sentence, names in double quotes. */
function wrongLineText({ message }: Error): string {
  const [sentence = ""] = message.split(/\. |\n/);
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replaceAll("'", '"').replace(/\.$/, "");
}
