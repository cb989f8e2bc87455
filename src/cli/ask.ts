import type { Arguments } from "./arguments.ts";
import type { Context } from "./command.ts";
import { CommandFailure, exitCodes } from "./failures.ts";

/** Asks on stderr; only `y` and `yes` mean yes. Throws when the operator interrupts. */
export async function confirmed(question: string, { terminal, signal }: Context): Promise<boolean> {
  terminal.prompt(`\n${terminal.noteStyle.bold(question)} [y/N] `);
  const line = await terminal.readLine();
  if (line === undefined) terminal.note("");
  if (signal.aborted) throw new CommandFailure("interrupted: nothing was changed", exitCodes.interrupted);
  return /^\s*y(?:es)?\s*$/i.test(line ?? "");
}

/** For what cannot be undone: asks where somebody is there to answer and did not say --yes. Throws when that is a no. */
export async function assent(question: string, args: Arguments, context: Context): Promise<void> {
  if (args.on("yes") || !context.terminal.interactive) return;
  if (!(await confirmed(question, context))) throw refused();
}

export const yesFlag = { name: "yes", short: "y", summary: "do not ask" };

/** What a refused question ends with. */
export function refused(): CommandFailure {
  return new CommandFailure("nothing was changed", exitCodes.refused);
}
