import type { Arguments } from "../basics/arguments.ts";
import type { Context } from "./command.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";

interface Question {
  /** Ends with a question mark. */
  text: string;
  /** The operator has said yes already. */
  yes: boolean;
  /** What says yes if no person can be asked. */
  way?: string;
  /** What a no means. */
  otherwise?: string;
}

/**
 * The one rule of every command that asks: `-y` or BERTH_AUTO_APPROVE=1 is a yes; else the operator is asked on the
 * terminal; without a terminal it is a no. A no ends the command with `refused` before anything was changed.
 */
export async function requireYes(context: Context, question: Question): Promise<void> {
  const { text, yes, way = "add -y", otherwise = "nothing was changed" } = question;
  if (yes || context.autoApprove) return;
  if (!context.terminal.asks) {
    throw new CommandFailure(
      `there is no terminal to ask "${text}": ${way} to answer yes; ${otherwise}`,
      exitCodes.refused,
    );
  }
  if (!(await confirmed(text, context))) throw new CommandFailure(otherwise, exitCodes.refused);
}

/** Asks on stderr; only `y` and `yes` mean yes. Throws when the operator interrupts. */
async function confirmed(question: string, { terminal, signal }: Context): Promise<boolean> {
  terminal.prompt(`\n${terminal.noteStyle.bold(question)} [y/N] `);
  const line = await terminal.readLine(signal);
  if (line === undefined) terminal.note("");
  if (signal.aborted) throw new CommandFailure("interrupted: nothing was changed", exitCodes.interrupted);
  return /^\s*y(?:es)?\s*$/i.test(line ?? "");
}

/** A line from the operator; `usual` where it is empty. Throws when the operator interrupts. */
export async function askText({ terminal, signal }: Context, question: string, usual: string): Promise<string> {
  const shown = usual === "" ? "" : ` [${usual}]`;
  terminal.prompt(`${terminal.noteStyle.bold(question)}${shown}: `);
  const line = await terminal.readLine(signal);
  if (line === undefined) terminal.note("");
  if (signal.aborted) throw new CommandFailure("interrupted: nothing was changed", exitCodes.interrupted);
  return line?.trim() || usual;
}

/** Like `requireYes`, for a command with `yesFlag`. */
export function assent(text: string, args: Arguments, context: Context): Promise<void> {
  return requireYes(context, { text, yes: args.on("yes") });
}

export const yesFlag = { name: "yes", short: "y", summary: "do not ask (BERTH_AUTO_APPROVE=1)" };
