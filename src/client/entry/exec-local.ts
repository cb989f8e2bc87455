import { existsSync } from "node:fs";
import { join } from "node:path";
import { system } from "../../orchestration/api/health.ts";
import { parseArguments } from "../basics/arguments.ts";
import { requireYes } from "../shell/ask.ts";
import type { Context } from "../shell/command.ts";
import { execCommand } from "../commands/exec.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import { globalFlags } from "../shell/help.ts";
import { notFoundCode } from "../basics/local-run.ts";
import { printable } from "../basics/style.ts";

/** What becomes of a command that a plugin wants run on the operator's terminal. */
type LocalPlan =
  /** Known to be harmless here: a command in one of the server's containers. */
  | { type: "docker"; argv: string[] }
  /** The same through the server, as words of `berth exec`: works from anywhere. */
  | { type: "exec"; words: string[] }
  /** Anything else is the operator's to decide. */
  | { type: "ask"; argv: string[] };

interface LocalMachine {
  /** The engine of the server can be reached with a `docker` on this machine. */
  docker: boolean;
  /** Stdin is a terminal: without one, `-t` would be refused, and is left out. */
  terminal: boolean;
}

export function planLocal(command: readonly string[], { docker, terminal }: LocalMachine): LocalPlan {
  const [program = "", verb, ...written] = command;
  const isExec = verb === "exec" && (program === "berth" || program === "docker");
  if (!isExec) return { type: "ask", argv: [...command] };
  const rest = terminal ? written : withoutTerminal(written);
  if (program === "berth") return { type: "exec", words: rest };
  if (docker) return { type: "docker", argv: [program, verb, ...rest] };
  const words = fromDocker(rest);
  return words === undefined ? { type: "ask", argv: [...command] } : { type: "exec", words };
}

/** Flags before the container, less those that ask for a terminal. */
function withoutTerminal(words: readonly string[]): string[] {
  const kept: string[] = [];
  for (const [index, word] of words.entries()) {
    const isValue = takesNext(words[index - 1] ?? "");
    if (!word.startsWith("-") && !isValue) return [...kept, ...words.slice(index)];
    if (isValue || word.startsWith("--")) {
      if (isValue || !/^--tty(=|$)/.test(word)) kept.push(word);
    } else {
      const left = withoutLetter(word);
      if (left !== "-") kept.push(left);
    }
  }
  return kept;
}

/** `-itu` is `-iu`; what follows the first letter with a value is that value. */
function withoutLetter(word: string): string {
  const end = [...word].findIndex((letter) => values[letter] !== undefined);
  const [flags, rest] = end === -1 ? [word, ""] : [word.slice(0, end), word.slice(end)];
  return `${flags.replaceAll("t", "")}${rest}`;
}

/** A flag whose value is the next word: `-u`, `-iu`, `--user`. */
function takesNext(word: string): boolean {
  if (word.startsWith("--")) return values[word.slice(2)] !== undefined;
  if (!word.startsWith("-")) return false;
  const at = [...word].findIndex((letter) => values[letter] !== undefined);
  return at !== -1 && at === word.length - 1;
}

const switches: Record<string, string> = { i: "-i", interactive: "-i", t: "-t", tty: "-t" };
const values: Record<string, string> = { u: "-u", user: "-u", w: "-w", workdir: "-w", e: "-e", env: "-e" };

/** Words of `docker exec` as words of `berth exec`; undefined where it has a flag that ours does not have. */
function fromDocker(words: readonly string[]): string[] | undefined {
  const flags: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith("-")) return [...flags, word, "--", ...rest];
    const [name = "", given] = splitFlag(word);
    const letters = word.startsWith("--") ? [name] : [...name];
    const last = letters.at(-1) ?? "";
    const known = letters.slice(0, -1).map((letter) => switches[letter]);
    if (values[last] !== undefined) {
      const value = given ?? rest.shift();
      if (value === undefined || known.includes(undefined)) return undefined;
      flags.push(...known.flatMap((flag) => flag ?? []), values[last], value);
    } else {
      const all = [...known, switches[last]];
      if (all.includes(undefined) || given !== undefined) return undefined;
      flags.push(...all.flatMap((flag) => flag ?? []));
    }
  }
  return undefined;
}

/** `--user=x` and its value; short flags keep theirs in the next word. */
function splitFlag(word: string): [string, string | undefined] {
  const [, name = "", value] = /^--?([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
  return [name, value];
}

interface LocalWish {
  commands: readonly { command: readonly string[] }[];
  /** Name of the plugin, for the question. */
  plugin: string;
  /** That the command is about; told in BERTH_APP. */
  app: string | undefined;
  /** The operator has said yes to everything. */
  yes: boolean;
}

/** Runs them in order on the operator's terminal, each shown before; the first that fails ends it with its code. */
export async function runLocally(context: Context, { commands, ...about }: LocalWish): Promise<number> {
  if (commands.length === 0) return exitCodes.done;
  const engine = await engineHere(context);
  for (const { command } of commands) {
    const docker = engine !== undefined && Bun.which("docker") !== null;
    const { inputIsTerminal: terminal } = context.rawTerminal;
    const code = await carryOut(context, planLocal(command, { docker, terminal }), { ...about, engine });
    if (code !== 0) return code;
  }
  return exitCodes.done;
}

interface LocalRun extends Omit<LocalWish, "commands"> {
  /** Where the server's engine is, as seen from this machine. */
  engine: string | undefined;
}

async function carryOut(context: Context, plan: LocalPlan, { plugin, app, yes, engine }: LocalRun): Promise<number> {
  if (plan.type === "exec") {
    show(context, ["berth", "exec", ...plan.words]);
    const { restFromWord: stopAtWord = 2 } = execCommand;
    return execCommand.run(context, parseArguments(plan.words, [...execCommand.flags, ...globalFlags], { stopAtWord }));
  }
  show(context, plan.argv);
  if (plan.type === "ask") await ask(context, { plugin, isHere: engine !== undefined, yes });
  const env: Record<string, string> = {
    ...(engine === undefined ? {} : { DOCKER_HOST: engine }),
    ...(app === undefined ? {} : { BERTH_APP: app }),
  };
  const code = await context.runLocal({ argv: plan.argv, env });
  if (code === notFoundCode && Bun.which(plan.argv[0] ?? "") === null) {
    throw new CommandFailure(`"${plan.argv[0]}" is not installed on this machine`, notFoundCode);
  }
  return code;
}

async function ask(context: Context, { plugin, isHere, yes }: Asking): Promise<void> {
  const where = isHere ? "" : "; it was perhaps meant for the server: then run it there, over ssh";
  const text = `The plugin "${plugin}" wants this run on this machine${where}. Run it?`;
  await requireYes(context, {
    text,
    yes,
    way: "run it yourself, or put --yes before the plugin's name",
    otherwise: "not run",
  });
}

interface Asking {
  plugin: string;
  isHere: boolean;
  yes: boolean;
}

function show({ terminal }: Context, argv: readonly string[]): void {
  terminal.note(terminal.noteStyle.dim(`$ ${printable(argv.map(quoted).join(" "))}`));
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Where the server's engine is, when this is the server's own machine; undefined elsewhere. An address does not tell,
 * as tunnels end on loopback: the server's socket has to lie here and answer with the same installation.
 */
async function engineHere(context: Context): Promise<string | undefined> {
  const report = await context.api.call(system, {});
  if (context.endpoint.startsWith("unix:")) return report.engine.host;
  const socket = report.socket ?? join(report.root, "run/berth.sock");
  if (!existsSync(socket)) return undefined;
  const here = await context
    .reach(`unix:${socket}`)
    .call(system, {})
    .catch(() => undefined);
  return here?.installation === report.installation ? report.engine.host : undefined;
}
