/** An entry of a file of Docker's json-file driver: a line, or a part of one. */
export interface DockerEntry {
  stream: string;
  /** RFC 3339, UTC. */
  time: string;
  /** The line ends with it. */
  isEnd: boolean;
  /** Without the line break; undefined where it turns out to be no entry. */
  text(): string | undefined;
}

/** Reads the entry in the bytes from `from` to `end`, without its line break. Undefined where there is none. */
export function readEntry(bytes: Buffer, from: number, end: number): DockerEntry | undefined {
  return entryOf(bytes.toString("utf8", from, end)) ?? entryBehindTorn(bytes, from, end);
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
export function quickEntryOf(bytes: Buffer, from: number, end: number): DockerEntry | undefined {
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
    text: () => readEntry(bytes, from, end)?.text(),
  };
}

/**
 * A power cut leaves zeros or the torn beginning of an entry without a line break, and Docker writes on right behind it.
 * The text of a container has its quotation marks escaped, so what an entry begins with is nowhere inside of one.
 */
function entryBehindTorn(bytes: Buffer, from: number, end: number): DockerEntry | undefined {
  const at = bytes.lastIndexOf(begins, end - begins.length);
  return at > from ? entryOf(bytes.toString("utf8", at, end)) : undefined;
}

function entryOf(json: string): DockerEntry | undefined {
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
