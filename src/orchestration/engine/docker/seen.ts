/** How far a stream was read, so that another answer with the same bytes can be read on from there. */
export interface Seen {
  add(bytes: Uint8Array): void;
  bytes(): number;
  /** Whether it ends with these, as far as its end is remembered. */
  endsWith(bytes: Uint8Array): boolean;
  /** Takes an answer that begins where the stream began. */
  again(): Again;
}

interface Again {
  /** What comes behind what was seen; undefined where the answer does not hold what was seen. */
  behind(bytes: Uint8Array): Uint8Array | undefined;
  /** All that was seen has come once more. */
  caughtUp(): boolean;
}

const rememberedBytes = 4_096;

export function createSeen(): Seen {
  let count = 0;
  const end = createEnd();
  return {
    add(bytes) {
      count += bytes.length;
      end.push(bytes);
    },
    bytes: () => count,
    endsWith: (bytes) => {
      const wanted = bytes.subarray(-rememberedBytes);
      const have = end.bytes();
      return have.length >= wanted.length && have.subarray(have.length - wanted.length).equals(wanted);
    },
    again() {
      const wanted = count;
      const wantedEnd = end.bytes();
      const skipped = createEnd();
      let left = wanted;
      return {
        behind(bytes) {
          if (left === 0) return bytes;
          const part = bytes.subarray(0, left);
          left -= part.length;
          skipped.push(part);
          if (left === 0 && !skipped.bytes().equals(wantedEnd)) return undefined;
          return bytes.subarray(part.length);
        },
        caughtUp: () => left === 0,
      };
    },
  };
}

/** The last bytes of a stream: copies, for chunks are not ours to keep. */
function createEnd(): { push(bytes: Uint8Array): void; bytes(): Buffer } {
  let end = Buffer.alloc(0);
  return {
    push(bytes) {
      const both = bytes.length >= rememberedBytes ? bytes : Buffer.concat([end, bytes]);
      end = Buffer.from(both.subarray(-rememberedBytes));
    },
    bytes: () => end,
  };
}
