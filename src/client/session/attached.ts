import type { Arguments, Flag } from "../basics/arguments.ts";
import type { Context } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";

/** Flags of a command that the terminal is attached to, in a pod or in a container of its own. */
export const attachFlags: readonly Flag[] = [
  { name: "interactive", short: "i", aliases: ["stdin"], summary: "pass stdin on" },
  { name: "tty", short: "t", summary: "give it a terminal" },
  { name: "user", short: "u", value: "USER", summary: "run it as this user, or user:group" },
  { name: "workdir", short: "w", value: "DIR", summary: "run it in this folder" },
  { name: "env", short: "e", value: "KEY=VALUE", repeat: true, summary: "add this variable; may be repeated" },
];

interface Attachment {
  tty: boolean;
  interactive: boolean;
  /** `KEY=VALUE`; later wins, so that what the operator gives comes last. */
  env: string[];
  /** The session's part of the query. */
  query: Record<string, string | number | boolean | undefined>;
}

/** What the flags say, else `usual`. */
export function attachmentOf(
  args: Arguments,
  context: Context,
  usual: { tty: boolean; interactive: boolean },
): Attachment {
  const tty = args.value("tty") === undefined ? usual.tty : args.on("tty");
  const interactive = args.value("interactive") === undefined ? usual.interactive : args.on("interactive");
  if (tty && interactive && !context.rawTerminal.inputIsTerminal) {
    throw usageFailure("-t needs a terminal on stdin: leave it out to pass a file or a pipe");
  }
  const given = args.values("env");
  const bad = given.find((entry) => !/^[^=]+=/.test(entry));
  if (bad !== undefined) throw usageFailure(`--env "${bad}" is not KEY=VALUE`);
  const size = tty ? context.rawTerminal.size() : undefined;
  const query = {
    framing: "true",
    tty,
    interactive,
    user: args.value("user"),
    workdir: args.value("workdir"),
    ...size,
  };
  return { tty, interactive, env: [...(tty ? terminalEnv(context) : []), ...given], query };
}

function terminalEnv({ variables }: Context): string[] {
  const term = [`TERM=${variables.TERM || "xterm-256color"}`];
  const locale = ["LANG", "LC_ALL"].flatMap((name) => (variables[name] ? [`${name}=${variables[name]}`] : []));
  return [...term, ...locale];
}
