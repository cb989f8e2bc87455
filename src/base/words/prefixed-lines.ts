const lineEnd = 10;

/** Puts a text in front of each line of bytes that come in pieces; what is not a whole line yet waits. */
interface PrefixedLines {
  /** The lines that are whole now, each with the text in front; empty where there are none. */
  push(bytes: Uint8Array): Uint8Array;
  /** What is left at the end, as a line. */
  rest(): Uint8Array;
}

/** A line longer than `lineBytesMax` goes out in pieces, each as a line of its own. */
export function createPrefixedLines(text: string, lineBytesMax: number): PrefixedLines {
  const prefix = Buffer.from(text);
  let open: Uint8Array[] = [];
  let openBytes = 0;
  const take = (last: Uint8Array): Uint8Array[] => {
    const line = [prefix, ...open, last];
    open = [];
    openBytes = 0;
    return line;
  };
  return {
    push(bytes) {
      const out: Uint8Array[] = [];
      let start = 0;
      for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, start)) {
        out.push(...take(bytes.subarray(start, at + 1)));
        start = at + 1;
      }
      if (start < bytes.length) {
        open.push(bytes.slice(start));
        openBytes += bytes.length - start;
      }
      if (openBytes >= lineBytesMax) out.push(...take(Buffer.from("\n")));
      return Buffer.concat(out);
    },
    rest: () => (openBytes === 0 ? new Uint8Array() : Buffer.concat(take(Buffer.from("\n")))),
  };
}
