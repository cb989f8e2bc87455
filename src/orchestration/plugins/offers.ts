import { stat } from "node:fs/promises";
import { Failure } from "../../base/wire/failure.ts";

/** A file of the server on its way to an operator. */
export interface OfferedFile {
  /** Bytes when it was looked at. */
  size: number;
  /** Pulled: a slow reader holds no more than a piece of it in memory. */
  body: ReadableStream<Uint8Array>;
}

/** Files that plugins have told operators to fetch: nothing else can be fetched. */
export interface Offers {
  put(runId: string, paths: readonly string[]): void;
  /** Fails `not_found` for what no run offered, or did too long ago, and for a file that is not there. */
  open(runId: string, index: number): Promise<OfferedFile>;
}

/** Keeps the newest `runsKept` runs that offered something, in memory: an offer does not outlive the server. */
export function createOffers(runsKept: number): Offers {
  const offers = new Map<string, readonly string[]>();
  return {
    put(runId, paths) {
      if (paths.length === 0) return;
      offers.set(runId, [...paths]);
      const [oldest] = offers.keys();
      if (offers.size > runsKept && oldest !== undefined) offers.delete(oldest);
    },
    async open(runId, index) {
      const path = offers.get(runId)?.[index];
      if (path === undefined) {
        throw new Failure(
          "not_found",
          `run "${runId}" offers no such file, or did too long ago; run the command again`,
        );
      }
      return openFile(path);
    },
  };
}

/** Opened when it is first asked for, so that an unread answer holds nothing. */
async function openFile(path: string): Promise<OfferedFile> {
  const found = await stat(path).catch((cause: unknown) => {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const why = code === "ENOENT" ? "it is not there" : `the server cannot read it (${code})`;
    throw new Failure("not_found", `the file "${path}" that the plugin named: ${why}`, { cause });
  });
  if (!found.isFile()) throw new Failure("not_found", `"${path}", which the plugin named, is not a file`);
  return { size: found.size, body: Bun.file(path).slice(0, found.size).stream() };
}
