import { appendFile, mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import type { AccessEntry } from "../api/access-log.ts";
import { type AccessFilter, isAskedFor, readEntry } from "../core/access-entry.ts";

/** The access log on disk: JSON lines in `access.log`, older ones in `access.log.1` and so on. */
export interface AccessLog {
  /** Never waits for the disk. Entries beyond the buffer are dropped, and the server's log says how many. */
  write(entry: AccessEntry): void;
  /** The newest `limit` entries that are asked for, oldest first. */
  read(filter: AccessFilter, limit: number): Promise<AccessEntry[]>;
  /** Writes what comes, until `signal` aborts; then what is left. */
  run(signal: AbortSignal): Promise<void>;
}

interface AccessLogLimits {
  /** Size of one file; then the next one begins. */
  accessFileBytesMax: number;
  accessFilesMax: number;
  /** Entries that wait for the disk, as text. */
  accessBufferMax: number;
  accessFlushMs: number;
}

export function createAccessLog({
  folder,
  clock,
  log,
  limits,
}: {
  folder: string;
  clock: SteadyClock;
  log: Log;
  limits: AccessLogLimits;
}): AccessLog {
  const pathOf = (number: number) => join(folder, number === 0 ? "access.log" : `access.log.${number}`);
  let waiting: string[] = [];
  let waitingLength = 0;
  let dropped = 0;
  let isFailing = false;
  /** Writes, one after the other. */
  let turn: Promise<void> = Promise.resolve();
  /** Ends the wait for an entry. */
  let come = () => {};

  async function append(): Promise<void> {
    if (waiting.length === 0) return;
    const text = waiting.join("");
    [waiting, waitingLength] = [[], 0];
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const size = await stat(pathOf(0)).then(
        (found) => found.size,
        () => 0,
      );
      if (size > 0 && size + text.length > limits.accessFileBytesMax) await rotate();
      await appendFile(pathOf(0), text, { mode: 0o600 });
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.error("access log not written", { error });
      isFailing = true;
    }
  }

  async function rotate(): Promise<void> {
    await rm(pathOf(limits.accessFilesMax - 1), { force: true });
    for (let number = limits.accessFilesMax - 2; number >= 0; number--) {
      await rename(pathOf(number), pathOf(number + 1)).catch(() => undefined);
    }
  }

  function flush(): Promise<void> {
    if (dropped > 0) log.warn("access log entries were too many and are lost", { count: dropped });
    dropped = 0;
    turn = turn.then(append);
    return turn;
  }

  return {
    write(entry) {
      const text = `${JSON.stringify(entry)}\n`;
      come();
      if (waitingLength + text.length > limits.accessBufferMax) {
        dropped += 1;
        return;
      }
      waiting.push(text);
      waitingLength += text.length;
    },
    async read(filter, limit) {
      await flush();
      const found: AccessEntry[] = [];
      for (let number = 0; number < limits.accessFilesMax && found.length < limit; number++) {
        const text = await readFile(pathOf(number), "utf8").catch(() => "");
        const { isOver } = collect(text, { found, filter, limit });
        if (isOver) break;
      }
      return found.reverse();
    },
    async run(signal) {
      signal.addEventListener("abort", () => come(), { once: true });
      while (!signal.aborted) {
        // A timer that finds nothing would wake an idle server four times a second.
        const coming = Promise.withResolvers<void>();
        come = coming.resolve;
        if (waiting.length === 0 && dropped === 0) await coming.promise;
        await clock.sleep(limits.accessFlushMs, signal);
        await flush();
      }
    },
  };
}

interface Collecting {
  /** Newest first. */
  found: AccessEntry[];
  filter: AccessFilter;
  limit: number;
}

/** Adds the entries of one file, newest first; over when older ones are not asked for. */
function collect(text: string, { found, filter, limit }: Collecting): { isOver: boolean } {
  let end = text.length;
  while (end > 0 && found.length < limit) {
    const start = text.lastIndexOf("\n", end - 2) + 1;
    const entry = readEntry(text.slice(start, end));
    end = start;
    if (entry === undefined) continue;
    if (filter.after !== undefined && entry.seq <= filter.after) return { isOver: true };
    if (isAskedFor(entry, filter)) found.push(entry);
  }
  return { isOver: found.length >= limit };
}
