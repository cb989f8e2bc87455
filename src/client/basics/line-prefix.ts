/** Puts a prefix in front of each line of a stream that arrives in pieces, and hands on whole lines only. */
export interface LinePrefix {
  push(chunk: Uint8Array): Uint8Array;
  /** The unfinished last line, finished. */
  end(): Uint8Array;
}

/** A longer line is handed on in parts, each a line of its own. */
const lineBytesMax = 1024 * 1024;
const newline = 0x0a;
const nothing = new Uint8Array(0);

/** `line` makes what is shown of one line, without its end. */
export function createLinePrefix(line: (bytes: Uint8Array) => Uint8Array): LinePrefix {
  let open: Uint8Array = nothing;
  const end = Uint8Array.of(newline);
  return {
    push(chunk) {
      const parts: Uint8Array[] = [];
      let from = 0;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        parts.push(line(joined(open, chunk.subarray(from, at))), end);
        open = nothing;
        from = at + 1;
      }
      // A copy: the chunk is not ours to keep.
      if (from < chunk.length) open = Buffer.concat([open, chunk.subarray(from)]);
      if (open.length > lineBytesMax) {
        parts.push(line(open), end);
        open = nothing;
      }
      return parts.length === 0 ? nothing : Buffer.concat(parts);
    },
    end() {
      if (open.length === 0) return nothing;
      const last = Buffer.concat([line(open), end]);
      open = nothing;
      return last;
    },
  };
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.length === 0 ? b : Buffer.concat([a, b]);
}
