import { type CallInput, readAnswer } from "../../base/wire/client.ts";
import type { DataOf, Endpoint } from "../../base/wire/endpoint.ts";
import { type ProgressLine, progressMediaType } from "../../orchestration/api/plugins/protocol.ts";
import type { Context } from "./command.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { unbroken } from "../basics/unbroken.ts";

/** A longer line is not an answer of a berth server. */
const lineCharsMax = 64 * 1024 * 1024;

/**
 * Calls an endpoint and shows its progress as it comes. Throws `ApiError` as without progress. Where the connection ends
 * before the result, or the operator ends it, the failure says that, and then `broken`: when it was, and what to do.
 */
export async function callWithProgress<E extends Endpoint>(
  context: Context,
  endpoint: E,
  { input, broken, onLine = () => undefined }: { input: CallInput<E>; broken: string; onLine?: (line: string) => void },
): Promise<DataOf<E>> {
  const headers = { Accept: progressMediaType };
  const { signal } = context;
  const answer = await context.api.raw(endpoint, { ...input, headers, signal }).catch((error: unknown) => {
    throw signal.aborted ? interrupted(broken) : error;
  });
  const isStream = answer.headers.get("content-type")?.includes(progressMediaType) === true;
  if (!isStream || answer.body === null) return readAnswer(endpoint, answer.status, await answer.text());
  for await (const line of linesOf(answer.body)) {
    const told = JSON.parse(line) as ProgressLine;
    if (told.type === "result") return readAnswer(endpoint, told.code, JSON.stringify(told));
    onLine(told.text);
    context.terminal.note(context.terminal.noteStyle.dim(printable(told.text)));
  }
  throw signal.aborted ? interrupted(broken) : new CommandFailure(`the connection ended ${broken}`);
}

function interrupted(when: string): CommandFailure {
  return new CommandFailure(`interrupted ${when}`, exitCodes.interrupted);
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let open = "";
  for await (const chunk of unbroken(body)) {
    const parts = (open + decoder.decode(chunk, { stream: true })).split("\n");
    open = parts.pop() ?? "";
    if (open.length > lineCharsMax) throw new CommandFailure("the answer of the server is too long");
    yield* parts;
  }
}

/** What the operator has to know and may go on with. */
export function warn({ terminal }: Context, warnings: readonly string[]): void {
  for (const warning of warnings) terminal.note(`${terminal.noteStyle.yellow("warning:")} ${printable(warning)}`);
}
