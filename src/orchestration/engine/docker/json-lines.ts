import { unreachable } from "./errors.ts";

/** One row larger than this is not the engine speaking. */
const lineCharactersMax = 4 * 1024 * 1024;

/**
 * The rows of a stream of JSON texts, one per line, however its chunks are cut. Throws `unavailable` for a row that
 * is not JSON; an unfinished last line is given up.
 */
export async function* jsonLines(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    rest += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > lineCharactersMax) throw unreachable("a line of its answer has no end");
    for (const line of lines) if (line.trim() !== "") yield parsed(line);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw unreachable("a line of its answer is not JSON", cause);
  }
}

/** What went wrong, of a row that says so. */
export function progressError(row: unknown): string | undefined {
  if (typeof row !== "object" || row === null || !("error" in row)) return undefined;
  return typeof row.error === "string" ? row.error : JSON.stringify(row.error);
}
