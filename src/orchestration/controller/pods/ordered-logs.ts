import { brokenLine, lineBytesMax, prefixOf } from "../../../base/words/merged-lines.ts";
import { createTimedLines, type TimedLine } from "../../../base/words/timed-lines.ts";

/** The whole output of a container, with times, as the engine keeps it. */
interface OrderedSource {
  name: string;
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/** Lines are handed out in pieces of about so many bytes. */
const pieceBytes = 64 * 1024;

/**
 * The lines of logs that are not followed, in the order of their times, with `[NAME] ` in front. Of each log one part is
 * in memory. A log that cannot be read says so in a line of its own.
 */
export async function* orderedLogs(
  sources: readonly OrderedSource[],
  { timestamps, onBroken }: { timestamps: boolean; onBroken: (name: string, error: unknown) => void },
): AsyncGenerator<Uint8Array> {
  const cursors = sources.map((source) => createCursor(source, { timestamps, onBroken }));
  try {
    await Promise.all(cursors.map((cursor) => cursor.fill()));
    let piece: Uint8Array[] = [];
    let bytes = 0;
    for (let first = earliest(cursors); first !== undefined; first = earliest(cursors)) {
      const line = first.take();
      piece.push(line);
      bytes += line.length;
      if (first.line() === undefined) await first.fill();
      if (bytes < pieceBytes) continue;
      yield Buffer.concat(piece);
      piece = [];
      bytes = 0;
    }
    if (bytes > 0) yield Buffer.concat(piece);
  } finally {
    await Promise.all(cursors.map((cursor) => cursor.close()));
  }
}

interface Cursor {
  /** The next line; undefined at the end, or where more has to be read first. */
  line(): TimedLine | undefined;
  take(): Uint8Array;
  /** Reads until there is a line, or the end. Never fails. */
  fill(): Promise<void>;
  close(): Promise<void>;
}

function createCursor(
  { name, open }: OrderedSource,
  { timestamps, onBroken }: { timestamps: boolean; onBroken: (name: string, error: unknown) => void },
): Cursor {
  const lines = createTimedLines({ prefix: prefixOf(name), timestamps, lineBytesMax });
  let parts: AsyncIterator<Uint8Array> | undefined;
  let ready: TimedLine[] = [];
  let next = 0;
  let isOver = false;
  let lastAt = "";
  const read = async () => {
    parts ??= (await open())[Symbol.asyncIterator]();
    const part = await parts.next();
    isOver = part.done === true;
    return part.done ? lines.rest() : lines.push(part.value);
  };
  return {
    line: () => ready[next],
    take() {
      const line = ready[next++];
      lastAt = line?.at ?? lastAt;
      return line?.bytes ?? new Uint8Array();
    },
    async fill() {
      while (ready[next] === undefined && !isOver) {
        next = 0;
        try {
          ready = await read();
        } catch (error) {
          isOver = true;
          onBroken(name, error);
          ready = [...lines.rest(), { at: lastAt, bytes: brokenLine(name, error) }];
        }
      }
    },
    close: async () => void (await parts?.return?.().catch(() => undefined)),
  };
}

/** The earliest one; among equal times, the one that was named first. */
function earliest(cursors: readonly Cursor[]): Cursor | undefined {
  let found: { cursor: Cursor; at: string } | undefined;
  for (const cursor of cursors) {
    const at = cursor.line()?.at;
    if (at !== undefined && (found === undefined || at < found.at)) found = { cursor, at };
  }
  return found?.cursor;
}
