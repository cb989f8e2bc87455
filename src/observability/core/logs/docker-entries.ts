import { createTimeReader, type DockerEntry, quickEntryOf, readEntry } from "../../../base/pure/docker-entry.ts";
import { lineCharactersMax } from "./line.ts";

/** A line as Docker's json-file driver wrote it. */
export interface DockerLine {
  /** Epoch milliseconds. */
  at: number;
  stream: "stdout" | "stderr";
  /** Undefined where the line is left out: then its text was never read. */
  text: string | undefined;
}

/** Whether a line of this time is kept; asked once for each line, in their order. */
export type KeepsLine = (at: number) => boolean;

interface DockerEntries {
  /**
   * Takes one entry of the file, without its line break: the bytes from `from` to `end`. What is not an entry is left out,
   * such as the torn end of a file after a power cut; an entry behind it is read.
   */
  push(bytes: Buffer, from: number, end: number): void;
  /** Lines that are complete, in order: nothing while the end of one is still to come. */
  take(): DockerLine[];
  /** Whether the end of some line is still to come. */
  isPartial(): boolean;
  /** The end does not come: what is there counts as a line. */
  giveUp(): void;
}

/** The look at an entry's end pays only where lines are left out: after so many that were kept it is not taken. */
const calmAfter = 32;

/** What waits for the end of a line, in bytes and by its times: a container may never end it. */
const waitingBytesMax = 4 * 1024 * 1024;
const waitingMsMax = 10_000;

/**
 * Puts lines together that Docker cuts at 16 KiB. While one is incomplete, those of the other stream wait too, but not
 * for ever: a flood of them would fill the memory.
 */
export function createDockerEntries(keeps: KeepsLine): DockerEntries {
  let done: DockerLine[] = [];
  const open = new Map<string, DockerLine>();
  /** Bytes of what is kept since a line is open, and the time of that line. */
  let waitingBytes = 0;
  let openedAt = 0;
  const times = createTimeReader();
  /** Lines that were kept since one was left out. */
  let keptInARow = calmAfter;
  /** A line that is left out is not read: a flood must not cost what it would to keep it. */
  const begin = ({ stream, time, text }: DockerEntry): DockerLine | undefined => {
    const at = times(time);
    if (at === undefined) return undefined;
    const line: DockerLine = { at, stream: stream === "stderr" ? "stderr" : "stdout", text: undefined };
    keptInARow = keeps(at) ? keptInARow + 1 : 0;
    if (keptInARow === 0) return line;
    line.text = text();
    return line.text === undefined ? undefined : line;
  };
  const giveUp = () => {
    for (const line of open.values()) finish(line);
    open.clear();
  };
  return {
    push(bytes, from, end) {
      const quick = keptInARow < calmAfter ? quickEntryOf(bytes, from, end) : undefined;
      const entry = quick ?? readEntry(bytes, from, end);
      if (entry === undefined) return;
      const { stream, isEnd } = entry;
      const begun = open.get(stream);
      const line = begun ?? begin(entry);
      if (line === undefined) return;
      const isKept = begun === undefined || (line.text !== undefined && line.text.length < lineCharactersMax);
      if (open.size === 0) [waitingBytes, openedAt] = [0, line.at];
      if (isKept) waitingBytes += end - from;
      if (begun === undefined) done.push(line);
      else if (isKept) line.text += entry.text() ?? "";
      if (isEnd) {
        finish(line);
        if (begun !== undefined) open.delete(stream);
      } else if (begun === undefined) open.set(stream, line);
      const isLate = begun === undefined && line.at - openedAt > waitingMsMax;
      if (open.size > 0 && (waitingBytes > waitingBytesMax || isLate)) giveUp();
    },
    take() {
      if (open.size > 0 || done.length === 0) return [];
      const lines = done;
      done = [];
      return lines;
    },
    isPartial: () => open.size > 0,
    giveUp,
  };
}

function finish(line: DockerLine): void {
  if (line.text === undefined) return;
  line.text = (line.text.endsWith("\r") ? line.text.slice(0, -1) : line.text).slice(0, lineCharactersMax);
}
