import { CommandFailure, exitCodes } from "../../client/basics/failures.ts";
import type { Machine } from "./machine.ts";

/** Asks the operator unless `yes`. Anything but a yes ends the command with exit code 5. */
export function confirm(machine: Machine, text: string, yes: boolean): void {
  if (yes) return;
  const answer = machine.ask(text);
  if (answer === undefined) {
    const message = `there is no terminal to ask "${text}": add -y to answer yes; nothing was changed`;
    throw new CommandFailure(message, exitCodes.refused);
  }
  if (!/^\s*y(?:es)?\s*$/i.test(answer)) throw new CommandFailure("nothing was changed", exitCodes.refused);
}
