import type { Action } from "../src/orchestration/api/plugins/action.ts";
import type { ExpandData } from "../src/orchestration/api/plugins/protocol.ts";

/**
 * The kit of a plugin author: one JSON object on standard input, a handler, one envelope on standard output. What a
 * handler says while it works goes to standard error, where operators read it as progress.
 */

/** What a command is called with. */
export interface Call {
  command: string;
  /** The operator's words, as they are. */
  args: readonly string[];
  /** The object on standard input: `ExpandInput` for `expand`, `DispatchInput` for every other command. */
  input: Readonly<Record<string, unknown>>;
  env: Readonly<Record<string, string | undefined>>;
  /** A line for the operator while the command runs. */
  progress: (text: string) => void;
}

/** What a command answers with. */
export interface Outcome {
  message?: string;
  /** Carried out by the controller, all of them or none. */
  actions?: Action[];
  /** For a command that the server runs by itself: the duration after which it wants to run again. */
  again?: string;
}

export type CommandHandler = (call: Call) => Outcome | Promise<Outcome>;
export type ExpandHandler = (call: Call) => ExpandData | Promise<ExpandData>;

export interface PluginHandlers {
  /** Makes core manifests from a block; without it the plugin has no block kinds. */
  expand?: ExpandHandler;
  commands: Readonly<Record<string, CommandHandler>>;
  /** What `-h` after a command says, by command; read only where somebody asks for it. */
  help?: () => Readonly<Record<string, string>>;
}

/** An expected error: its text is for the operator. Exit code 2 is for a wrong command line. */
export class PluginError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = "PluginError";
    this.exitCode = exitCode;
  }
}

export function usage(message: string): PluginError {
  return new PluginError(message, 2);
}

/** The world of a plugin process. */
export interface PluginWorld {
  /** Command and the operator's words. */
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** All of standard input. */
  stdin: () => Promise<string>;
  stdout: (text: string) => Promise<unknown>;
  stderr: (text: string) => void;
}

/** Runs one command to its end, prints its envelope, and answers with the exit code. */
export async function runPlugin(handlers: PluginHandlers, world: PluginWorld): Promise<number> {
  const [command = "", ...args] = world.argv;
  const progress = (text: string) => world.stderr(`${text}\n`);
  try {
    const run = asksForHelp(args) ? helpHandler(handlers, command) : handlerOf(handlers, command);
    const input = readInput(await world.stdin());
    const data = await run({ command, args, input, env: world.env, progress });
    await world.stdout(`${JSON.stringify({ status: "ok", data })}\n`);
    return 0;
  } catch (error) {
    await world.stdout(`${JSON.stringify({ status: "error", error: errorText(error) })}\n`);
    return error instanceof PluginError ? error.exitCode : 1;
  }
}

/** The world as the platform hands it to a process. */
export function processWorld(argv: readonly string[]): PluginWorld {
  return {
    argv,
    env: process.env,
    stdin: () => Bun.stdin.text(),
    stdout: (text) => Bun.write(Bun.stdout, text),
    stderr: (text) => void process.stderr.write(text),
  };
}

function handlerOf(handlers: PluginHandlers, command: string): CommandHandler | ExpandHandler {
  if (command === "expand" && handlers.expand !== undefined) return handlers.expand;
  const run = Object.hasOwn(handlers.commands, command) ? handlers.commands[command] : undefined;
  if (run !== undefined) return run;
  const known = Object.keys(handlers.commands).sort().join(", ");
  throw usage(`unknown command "${command}"; there are: ${known}`);
}

/** What follows `--` is for another program. */
function asksForHelp(args: readonly string[]): boolean {
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  return own.includes("-h") || own.includes("--help");
}

function helpHandler(handlers: PluginHandlers, command: string): CommandHandler {
  const message = handlers.help?.()[command];
  if (message === undefined) throw usage(`no help for "${command}"`);
  return () => ({ message });
}

/** A caller by hand may give nothing at all. */
function readInput(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PluginError("standard input is not JSON; a plugin reads one JSON object there");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new PluginError("standard input is not a JSON object");
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
