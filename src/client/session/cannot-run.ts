import { ApiError } from "../../base/wire/client.ts";
import { CommandFailure } from "../basics/failures.ts";

const shells = ["bash", "zsh", "ash", "dash", "ksh", "fish"];
/** What a shell ends with for a program that is not there. */
const notThere = 127;

/** The refusal of a command that cannot begin in its container, with the exit code that a shell has for it. */
export function cannotRun(error: unknown, command: readonly string[]): unknown {
  const code = error instanceof ApiError ? error.data.fields?.exit_code : undefined;
  if (!(error instanceof ApiError) || typeof code !== "number") return error;
  const program = (command[0] ?? "").replace(/^.*\//, "");
  const hint = code === notThere && shells.includes(program) ? "; the image has no such shell: try sh" : "";
  return new CommandFailure(`${error.message}${hint}`, code, error.data);
}
