import { createTimeReader, quickEntryOf, readEntry } from "../../../base/pure/docker-entry.ts";
import type { LogOptions } from "../session.ts";

/** Puts the entries of a log file together to the text of a log. */
export interface LogText {
  /** Takes one entry of the file: the bytes from `from` to `end`. */
  push(bytes: Buffer, from: number, end: number): void;
  /** Entries before the next one are gone. */
  lost(): void;
  /** The text so far. */
  take(): Buffer;
  /** The end of an open line does not come: lines that waited for it are text. */
  giveUp(): void;
  /** Whether lines wait for the end of another one. */
  isWaiting(): boolean;
}

/** Entries of the other stream that wait for the end of a line, in bytes as Docker wrote them: an empty line counts, too. */
const waitingBytesMax = 1024 * 1024;

interface Line {
  stream: string;
  piece: string;
  time: string;
  isEnd: boolean;
  bytes: number;
}

/**
 * Docker cuts lines at 16 KiB, and the other stream of the container may write between the pieces. Pieces are text at
 * once; lines of the other stream wait until the line has ended, so that no line is torn.
 */
export function createLogText({ since, timestamps }: Pick<LogOptions, "since" | "timestamps">): LogText {
  const times = createTimeReader();
  let text = "";
  /** The stream whose line is open. */
  let open: string | undefined;
  let waiting: Line[] = [];
  let waitingBytes = 0;
  /** Streams whose open line began before `since`. */
  const skipped = new Set<string>();
  let lastTime = "";
  let isLost = false;

  const write = ({ stream, piece, time, isEnd }: Line) => {
    if (timestamps && open !== stream) text += `${fixedTime(time)} `;
    text += isEnd ? `${piece}\n` : piece;
    open = isEnd ? undefined : stream;
  };

  const release = (isForced: boolean) => {
    const lines = waiting;
    waiting = [];
    waitingBytes = 0;
    for (const line of lines) {
      if (!isForced && open !== undefined && open !== line.stream) hold(line);
      else write(line);
    }
  };

  const hold = (line: Line) => {
    waiting.push(line);
    waitingBytes += line.bytes;
  };

  const notice = (time: string) => {
    isLost = false;
    skipped.clear();
    release(true);
    if (open !== undefined) text += "\n";
    open = undefined;
    const from = lastTime === "" ? "" : ` between ${lastTime} and ${time}`;
    if (timestamps) text += `${fixedTime(time)} `;
    text += `[stream error] lines${from} may be missing: Docker deleted log files before they could be read\n`;
  };

  /** Whether it belongs to a line that is older than wanted. */
  const isOld = (stream: string, at: number, isEnd: boolean): boolean => {
    if (since === undefined) return false;
    const old = skipped.has(stream) || (open !== stream && at < since);
    if (old && !isEnd) skipped.add(stream);
    else skipped.delete(stream);
    return old;
  };

  return {
    push(bytes, from, end) {
      const entry = (since === undefined ? undefined : quickEntryOf(bytes, from, end)) ?? readEntry(bytes, from, end);
      const at = entry === undefined ? undefined : times(entry.time);
      if (entry === undefined || at === undefined) return;
      const { stream, time, isEnd } = entry;
      if (isOld(stream, at, isEnd)) return;
      const piece = entry.text();
      if (piece === undefined) return;
      if (isLost) notice(time);
      lastTime = time;
      const line = { stream, piece, time, isEnd, bytes: end - from };
      if (open === undefined || open === stream) write(line);
      else hold(line);
      if (waiting.length > 0 && (open === undefined || waitingBytes > waitingBytesMax))
        release(waitingBytes > waitingBytesMax);
    },
    lost() {
      isLost = true;
    },
    take() {
      const bytes = Buffer.from(text);
      text = "";
      return bytes;
    },
    giveUp: () => release(true),
    isWaiting: () => waiting.length > 0,
  };
}

/** As Docker's API writes it: always with nine digits. */
function fixedTime(time: string): string {
  const [, seconds, fraction = ""] = /^(.{19})(?:\.(\d+))?Z$/.exec(time) ?? [];
  return seconds === undefined ? time : `${seconds}.${fraction.padEnd(9, "0")}Z`;
}
