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

/** An entry of the file: a line, or a part of one. */
interface Entry {
  stream: string;
  time: string;
  /** The line ends with it. */
  isEnd: boolean;
  /** Without the line break; undefined where it turns out to be no entry. */
  text(): string | undefined;
}

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

/** Puts lines together that Docker cuts at 16 KiB. While one is incomplete, those of the other stream wait too. */
export function createDockerEntries(keeps: KeepsLine): DockerEntries {
  let done: DockerLine[] = [];
  const open = new Map<string, DockerLine>();
  const times = createTimeReader();
  /** Lines that were kept since one was left out. */
  let keptInARow = calmAfter;
  /** A line that is left out is not read: a flood must not cost what it would to keep it. */
  const begin = ({ stream, time, text }: Entry): DockerLine | undefined => {
    const at = times(time);
    if (at === undefined) return undefined;
    const line: DockerLine = { at, stream: stream === "stderr" ? "stderr" : "stdout", text: undefined };
    keptInARow = keeps(at) ? keptInARow + 1 : 0;
    if (keptInARow === 0) return line;
    line.text = text();
    return line.text === undefined ? undefined : line;
  };
  return {
    push(bytes, from, end) {
      const quick = keptInARow < calmAfter ? quickEntryOf(bytes, from, end) : undefined;
      const entry = quick ?? entryOf(bytes.toString("utf8", from, end)) ?? entryBehindTorn(bytes, from, end);
      if (entry === undefined) return;
      const { stream, isEnd } = entry;
      const begun = open.get(stream);
      const line = begun ?? begin(entry);
      if (line === undefined) return;
      if (begun === undefined) done.push(line);
      else if (line.text !== undefined && line.text.length < lineCharactersMax) line.text += entry.text() ?? "";
      if (isEnd) {
        finish(line);
        if (begun !== undefined) open.delete(stream);
      } else if (begun === undefined) open.set(stream, line);
    },
    take() {
      if (open.size > 0 || done.length === 0) return [];
      const lines = done;
      done = [];
      return lines;
    },
    isPartial: () => open.size > 0,
    giveUp() {
      for (const line of open.values()) finish(line);
      open.clear();
    },
  };
}

function finish(line: DockerLine): void {
  if (line.text === undefined) return;
  line.text = (line.text.endsWith("\r") ? line.text.slice(0, -1) : line.text).slice(0, lineCharactersMax);
}

const [backslash, letterN] = [0x5c, 0x6e];
const begins = Buffer.from('{"log":"');
/** `","stream":"stdout","time":"` and the same with stderr: as long as each other. */
const middles = ["stdout", "stderr"].map((stream) => ({
  stream,
  bytes: Buffer.from(`","stream":"${stream}","time":"`),
}));
const middleBytes = middles[0]?.bytes.length ?? 0;
const quote = 0x22;
const timeBytesMax = 40;

/**
 * An entry as the driver mostly writes it, read from its end: the time is there, and no text of a container has a bare
 * quotation mark. Undefined for one of another form.
 */
function quickEntryOf(bytes: Buffer, from: number, end: number): Entry | undefined {
  if (bytes[end - 1] !== 0x7d || bytes[end - 2] !== quote) return undefined;
  const timeAt = bytes.lastIndexOf(quote, end - 3) + 1;
  const logEnd = timeAt - middleBytes;
  if (end - timeAt > timeBytesMax || logEnd < from + begins.length) return undefined;
  if (begins.compare(bytes, from, from + begins.length) !== 0) return undefined;
  const middle = middles.find((one) => one.bytes.compare(bytes, logEnd, timeAt) === 0);
  if (middle === undefined) return undefined;
  let slashes = 0;
  while (bytes[logEnd - 2 - slashes] === backslash) slashes += 1;
  return {
    stream: middle.stream,
    time: bytes.toString("latin1", timeAt, end - 2),
    isEnd: bytes[logEnd - 1] === letterN && slashes % 2 === 1,
    text: () => (entryOf(bytes.toString("utf8", from, end)) ?? entryBehindTorn(bytes, from, end))?.text(),
  };
}

/**
 * A power cut leaves zeros or the torn beginning of an entry without a line break, and Docker writes on right behind it.
 * The text of a container has its quotation marks escaped, so what an entry begins with is nowhere inside of one.
 */
function entryBehindTorn(bytes: Buffer, from: number, end: number): Entry | undefined {
  const at = bytes.lastIndexOf(begins, end - begins.length);
  return at > from ? entryOf(bytes.toString("utf8", at, end)) : undefined;
}

function entryOf(json: string): Entry | undefined {
  try {
    const value = JSON.parse(json) as { log?: unknown; time?: unknown; stream?: string } | null;
    if (typeof value?.log !== "string" || typeof value.time !== "string") return undefined;
    const { log, time, stream = "stdout" } = value;
    const isEnd = log.endsWith("\n");
    return { stream, time, isEnd, text: () => (isEnd ? log.slice(0, -1) : log) };
  } catch {
    return undefined;
  }
}

/** Reads RFC 3339 times; neighbours mostly share their second. */
export function createTimeReader(): (text: string) => number | undefined {
  let second = "";
  let secondMs = 0;
  return (text) => {
    if (text.length < 20 || !text.endsWith("Z")) return whole(text);
    const head = text.slice(0, 19);
    if (head !== second) {
      const ms = Date.parse(`${head}Z`);
      if (Number.isNaN(ms)) return undefined;
      second = head;
      secondMs = ms;
    }
    return secondMs + (text.length > 20 ? Number(text.slice(20, -1).padEnd(3, "0").slice(0, 3)) : 0);
  };
}

function whole(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
