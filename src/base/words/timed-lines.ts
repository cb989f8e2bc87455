/** A whole line of a log, with the time at which it was written. */
export interface TimedLine {
  /** In an order that texts have; empty where the engine gave none. */
  at: string;
  /** With the prefix in front and a line end behind. */
  bytes: Uint8Array;
}

interface TimedLines {
  /** The lines that are whole now. */
  push(bytes: Uint8Array): TimedLine[];
  /** What is left at the end, as a line. */
  rest(): TimedLine[];
}

interface TimedLinesOptions {
  prefix: string;
  /** Leaves the time in the line, behind the prefix. */
  timestamps: boolean;
  /** A longer line goes out in pieces, each as a line of its own. */
  lineBytesMax: number;
}

/** Docker stores a line in messages of at most so many bytes, and puts the time in front of each message. */
const messageBytes = 16 * 1024;
/** The longest time that is looked for, with the blank behind it. */
const timeBytesMax = 40;
const timePattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|[+-]\d\d:\d\d) /;
const secondsLength = "2026-01-31T13:05:00".length;
const lineEnd = 10;

/** Reads a log that was asked for with times: splits it into lines, and takes the times out. */
export function createTimedLines({ prefix, timestamps, lineBytesMax }: TimedLinesOptions): TimedLines {
  const front = Buffer.from(prefix);
  let open = Buffer.alloc(0);
  let at = "";
  /** What is left of the message that the last piece of an open line ended in; undefined at the beginning of a line. */
  let leftOfMessage: number | undefined;

  function take(raw: Buffer, isWhole: boolean): { line: TimedLine; used: number } {
    const parts: Uint8Array[] = [front];
    const isBeginning = leftOfMessage === undefined;
    let left = leftOfMessage ?? 0;
    let used = 0;
    while (used < raw.length && (isWhole || left > 0 || raw.length - used >= timeBytesMax)) {
      if (left === 0) {
        const time = timeAt(raw, used);
        if (used === 0 && isBeginning && time !== undefined) {
          at = time.at;
          if (timestamps) parts.push(raw.subarray(0, time.length));
        }
        used += time?.length ?? 0;
        left = messageBytes;
      }
      const count = Math.min(left, raw.length - used);
      parts.push(raw.subarray(used, used + count));
      used += count;
      left -= count;
    }
    leftOfMessage = isWhole ? undefined : left;
    return { line: { at, bytes: Buffer.concat([...parts, Buffer.of(lineEnd)]) }, used };
  }

  return {
    push(bytes) {
      const out: TimedLine[] = [];
      const all = open.length === 0 ? Buffer.from(bytes) : Buffer.concat([open, bytes]);
      let start = 0;
      // Nothing before the new bytes can be a line end.
      for (let end = all.indexOf(lineEnd, open.length); end >= 0; end = all.indexOf(lineEnd, start)) {
        out.push(take(all.subarray(start, end), true).line);
        start = end + 1;
      }
      open = all.subarray(start);
      if (open.length >= lineBytesMax) {
        const { line, used } = take(open, false);
        out.push(line);
        open = open.subarray(used);
      }
      return out;
    },
    rest() {
      if (open.length === 0) return [];
      const { line } = take(open, true);
      open = Buffer.alloc(0);
      return [line];
    },
  };
}

function timeAt(raw: Buffer, start: number): { at: string; length: number } | undefined {
  const found = timePattern.exec(raw.toString("latin1", start, start + timeBytesMax));
  if (found?.[1] === undefined) return undefined;
  const [whole, time] = found;
  const fraction = time.slice(secondsLength + 1).padEnd(9, "0");
  return { at: `${time.slice(0, secondsLength)}.${fraction}`, length: whole.length };
}
