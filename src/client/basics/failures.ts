import type { ErrorData } from "../../base/wire/envelope.ts";

/** What the process ends with; scripts rely on these. */
export const exitCodes = {
  done: 0,
  /** Failed, or what was applied did not become ready. */
  failed: 1,
  /** Wrong usage; also `diff --detailed-exitcode` with changes. */
  usage: 2,
  timedOut: 3,
  unreachable: 4,
  /** The operator said no, or could not be asked. */
  refused: 5,
  interrupted: 130,
} as const;

/** Ends a command: `message` for the operator, `exitCode` and `data` for scripts. */
export class CommandFailure extends Error {
  readonly exitCode: number;
  /** What the server said beside its text. */
  readonly data: ErrorData;

  constructor(message: string, exitCode: number = exitCodes.failed, data: ErrorData = {}) {
    super(message);
    this.data = data;
    this.name = "CommandFailure";
    this.exitCode = exitCode;
  }
}

export function usageFailure(message: string): CommandFailure {
  return new CommandFailure(message, exitCodes.usage);
}

/** What `parseArgs` of the local commands throws, in our style: its first sentence, names in double quotes. */
export function wrongLine(error: unknown): string | undefined {
  if (!(error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"))) return undefined;
  const [sentence = ""] = error.message.split(/\. |\n/);
  const text = sentence.charAt(0).toLowerCase() + sentence.slice(1).replaceAll("'", '"').replace(/\.$/, "");
  return text.startsWith("unexpected argument") ? `${text}: it is one word too many; see --help` : text;
}
