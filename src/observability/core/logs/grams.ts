/**
 * A filter of one block: a Bloom filter that says which texts cannot be in it. It holds every three letters in a row, for
 * words, and of longer texts a sample of five bytes in a row, for ids: of each run of `window` neighbours the one with
 * the smallest hash. The same text gives the same sample wherever it stands, so every text of at least `sampledBytesMin`
 * bytes has one in it (winnowing: Schleimer, Wilkerson and Aiken, 2003). Letters of ASCII count as small ones.
 */
const gram = 5;
const window = 5;
const sampledBytesMin = gram + window - 1;
/** Bits per entry: more make the filter sharper and larger. Measured in test/bench/logs.ts. */
const bitsPerEntry = 2.25;
const bytesMin = 64;

/** Whether a byte is an ASCII letter, and what it counts as. */
const folded = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));
const letters = Uint8Array.from({ length: 256 }, (_, byte) =>
  (folded[byte] ?? 0) >= 97 && (folded[byte] ?? 0) <= 122 ? 1 : 0,
);

/** The filter of a text. */
export function filterOf(text: Uint8Array): Uint8Array {
  const entries = createIntSet();
  eachEntry(text, (entry) => entries.add(entry));
  const wanted = Math.max(Math.ceil((entries.size() * bitsPerEntry) / 8), bytesMin);
  const filter = new Uint8Array(wanted);
  const bits = filter.length * 8;
  entries.each((entry) => {
    const bit = placeOf(entry, bits);
    filter[bit >>> 3] = (filter[bit >>> 3] ?? 0) | (1 << (bit & 7));
  });
  return filter;
}

/** What has to be in the filter of every block that holds the text; empty where nothing can be said. */
export function entriesOf(text: Uint8Array): number[] {
  const entries = new Set<number>();
  eachEntry(text, (entry) => entries.add(entry));
  return [...entries];
}

/** False where a block with this filter cannot have them all. */
export function mayHold(filter: Uint8Array, entries: readonly number[]): boolean {
  const bits = filter.length * 8;
  return entries.every((entry) => isSet(filter, placeOf(entry, bits)));
}

function isSet(filter: Uint8Array, bit: number): boolean {
  return ((filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
}

/** One bit for each entry: texts have several entries, and more bits each would only fill the filter. */
function placeOf(entry: number, bits: number): number {
  return (Math.imul(entry, 0x9e3779b1) >>> 0) % bits;
}

/** Hands out each entry of a text, some more than once. Line breaks never count as part of a text. */
function eachEntry(text: Uint8Array, add: (entry: number) => void): void {
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    run = letters[text[at] ?? 0] === 1 ? run + 1 : 0;
    if (run < 3) continue;
    const [a, b, c] = [folded[text[at - 2] ?? 0] ?? 0, folded[text[at - 1] ?? 0] ?? 0, folded[text[at] ?? 0] ?? 0];
    add(mixed(a | (b << 8) | (c << 16)));
  }
  if (text.length >= sampledBytesMin) eachSample(text, add);
}

function eachSample(text: Uint8Array, add: (entry: number) => void): void {
  const ring = new Uint32Array(window);
  let least = 0xffffffff;
  let leastAt = -1;
  let value = 0;
  for (let end = 0; end < text.length; end++) {
    const byte = folded[text[end] ?? 0] ?? 0;
    const at = end - gram + 1;
    // Four bytes fit a number; the fifth goes into the hash.
    const hash = mixed(value ^ Math.imul(byte, 0x9e3779b1));
    value = (value << 8) | byte;
    if (at < 0) continue;
    ring[at % window] = hash;
    if (hash <= least) {
      [least, leastAt] = [hash, at];
      if (at >= window - 1) add(hash);
    } else if (leastAt <= at - window) {
      least = 0xffffffff;
      for (let back = at - window + 1; back <= at; back++) {
        const other = ring[back % window] ?? 0;
        if (other <= least) [least, leastAt] = [other, back];
      }
      add(least);
    } else if (at === window - 1) add(least);
  }
}

function mixed(value: number): number {
  let hash = Math.imul(value, 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0xc2b2ae35);
  // Never 0, which stands for an empty place in the set below.
  return (hash ^ (hash >>> 13)) >>> 0 || 1;
}

interface IntSet {
  add(value: number): void;
  size(): number;
  each(visit: (value: number) => void): void;
}

/** A set of unsigned 32-bit numbers, without the boxes that `Set` makes of them. */
function createIntSet(): IntSet {
  let table = new Uint32Array(1 << 14);
  let count = 0;
  const place = (into: Uint32Array, value: number): boolean => {
    const mask = into.length - 1;
    let slot = (value ^ (value >>> 16)) & mask;
    for (;;) {
      const there = into[slot] ?? 0;
      if (there === value) return false;
      if (there === 0) {
        into[slot] = value;
        return true;
      }
      slot = (slot + 1) & mask;
    }
  };
  const grow = () => {
    const larger = new Uint32Array(table.length * 2);
    for (const value of table) if (value !== 0) place(larger, value);
    table = larger;
  };
  return {
    add(value) {
      if (!place(table, value)) return;
      count += 1;
      if (count * 2 > table.length) grow();
    },
    size: () => count,
    each(visit) {
      for (const value of table) if (value !== 0) visit(value);
    },
  };
}
