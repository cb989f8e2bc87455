import { quickEntryOf, readEntry } from "../../../base/pure/docker-entry.ts";
import type { LogFile } from "../../../base/machine/log-file.ts";
import type { LogSearch } from "../../../base/machine/log-walk.ts";

const blockBytes = 64 * 1024;
const lineBreak = 10;

/** Where the last `count` lines begin in files that are ordered oldest first. A line that has no end yet counts as one. */
export function* lastLinesAt(files: readonly LogFile[], count: number): LogSearch {
  let left = count;
  let isLast = true;
  for (const [index, file] of [...files.entries()].reverse()) {
    for (const entry of entriesBackwards(file)) {
      if (entry === undefined) {
        yield;
        continue;
      }
      const { bytes, end } = entry;
      if (isLast || endsLine(bytes)) {
        if (left === 0) return { index, offset: end };
        left -= 1;
      }
      isLast = false;
    }
    file.rest();
  }
  return undefined;
}

interface BackEntry {
  bytes: Buffer;
  /** Behind its line break, in the file. */
  end: number;
}

/** Complete entries of a file, the last one first, and undefined after each block. What is written meanwhile is not among them. */
function* entriesBackwards(file: LogFile): Generator<BackEntry | undefined> {
  let from = file.size();
  let rest: Buffer = Buffer.alloc(0);
  /** Whether a line break follows the bytes in `rest`. */
  let isComplete = false;
  while (from > 0) {
    const block = Buffer.alloc(Math.min(blockBytes, from));
    from -= block.length;
    const count = file.read(block, from);
    rest = Buffer.concat([block.subarray(0, count), rest]);
    for (let at = rest.lastIndexOf(lineBreak); at >= 0; at = rest.lastIndexOf(lineBreak)) {
      if (isComplete) yield { bytes: rest.subarray(at + 1), end: from + rest.length + 1 };
      isComplete = true;
      rest = rest.subarray(0, at);
    }
    yield undefined;
  }
  if (isComplete) yield { bytes: rest, end: rest.length + 1 };
}

function endsLine(bytes: Buffer): boolean {
  return (quickEntryOf(bytes, 0, bytes.length) ?? readEntry(bytes, 0, bytes.length))?.isEnd ?? false;
}
