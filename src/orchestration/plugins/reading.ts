/** The last part of what a process says, and each of its lines as it comes. */
interface Tail {
  push(chunk: Uint8Array): void;
  text(): string;
}

const lineCharsMax = 4_096;

/** Bytes that are not UTF-8 become replacement characters: this is for people. */
function createTail(bytesMax: number, onLine?: (line: string) => void): Tail {
  // Most plugins say nothing.
  let decoder: TextDecoder | undefined;
  let kept = "";
  let open = "";
  const tell = (text: string) => {
    const lines = (open + text).split("\n");
    open = (lines.pop() ?? "").slice(0, lineCharsMax);
    for (const line of lines) onLine?.(line.replace(/\r$/, "").slice(0, lineCharsMax));
  };
  return {
    push(chunk) {
      decoder ??= new TextDecoder();
      const text = decoder.decode(chunk, { stream: true });
      kept = kept.length + text.length > 2 * bytesMax ? (kept + text).slice(-bytesMax) : kept + text;
      if (onLine !== undefined) tell(text);
    },
    text: () => kept.slice(-bytesMax),
  };
}

/** The output of a process on its way in. */
interface Reading {
  /** Resolves when both streams have ended, at the latest after `ms`: a grandchild may hold them open. */
  settle(ms: number): Promise<void>;
  isOpen(): boolean;
  cancel(): void;
  stdout(): Uint8Array;
  stderr(): string;
}

interface Streams {
  stdout: ReadableStream<Uint8Array>;
  stderr: ReadableStream<Uint8Array>;
}

interface ReadOptions {
  limits: { pluginStdoutBytesMax: number; pluginStderrBytesMax: number; pluginTailBytes: number };
  /** Told each line of standard error as it comes. */
  onLine: ((line: string) => void) | undefined;
  /** Told once when more comes than is read; nothing is read of that stream from then on. */
  onFlood: (stream: "standard output" | "standard error") => void;
}

/** Both streams are read from the start: an unread pipe would grow without a bound. */
export function readBoth(child: Streams, { limits, onLine, onFlood }: ReadOptions): Reading {
  const chunks: Uint8Array[] = [];
  const tail = createTail(limits.pluginTailBytes, onLine);
  const readers = [child.stdout.getReader(), child.stderr.getReader()] as const;
  const open = new Set(readers);
  const finished = Promise.all([
    drain(readers[0], limits.pluginStdoutBytesMax, {
      take: (chunk) => chunks.push(chunk),
      full: () => onFlood("standard output"),
    }).finally(() => open.delete(readers[0])),
    drain(readers[1], limits.pluginStderrBytesMax, {
      take: tail.push,
      full: () => onFlood("standard error"),
    }).finally(() => open.delete(readers[1])),
  ]);
  return {
    async settle(ms) {
      if (open.size === 0) return;
      let timer: Timer | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
      });
      await Promise.race([finished, late]);
      clearTimeout(timer);
    },
    isOpen: () => open.size > 0,
    cancel() {
      for (const reader of open) reader.cancel().catch(() => undefined);
    },
    stdout: () => new Uint8Array(Buffer.concat(chunks)),
    stderr: tail.text,
  };
}

interface Reader {
  read(): Promise<{ value?: Uint8Array | undefined; done: boolean }>;
  cancel(): Promise<void>;
}

/** Reads to the end, or to one byte more than `bytesMax`: what is read only to be dropped fills the memory as well. */
async function drain(
  reader: Reader,
  bytesMax: number,
  { take, full }: { take: (chunk: Uint8Array) => void; full: () => void },
): Promise<void> {
  let total = 0;
  for (;;) {
    const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
    if (done || value === undefined) return;
    total += value.byteLength;
    if (total > bytesMax) {
      full();
      return reader.cancel().catch(() => undefined);
    }
    take(value);
  }
}
