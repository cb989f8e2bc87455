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

/** What a refused question ends with. */
export function refused(): CommandFailure {
  return new CommandFailure("nothing was changed", exitCodes.refused);
}
