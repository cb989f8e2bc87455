/** Numbers in as few bytes as they need, seven bits each. */
export function createNumberWriter(): { push(value: number): void; bytes(): Uint8Array } {
  let into = new Uint8Array(16 * 1024);
  let length = 0;
  return {
    push(value) {
      if (length + 9 > into.length) {
        const larger = new Uint8Array(into.length * 2);
        larger.set(into);
        into = larger;
      }
      let rest = value;
      // Above 31 bits the operators of bits lose some.
      for (; rest >= 0x80; rest = rest < 0x7fffffff ? rest >>> 7 : Math.floor(rest / 128))
        into[length++] = (rest % 128) | 0x80;
      into[length++] = rest;
    },
    bytes: () => into.subarray(0, length),
  };
}

/** Reads them one after the other. Past the end they are 0. */
export function createNumberReader(bytes: Uint8Array): () => number {
  let at = 0;
  return () => {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
  };
}
