/** Grows as it is written. Numbers are stored seven bits a byte, low ones first, so that small ones are short. */
export interface ByteWriter {
  byte(value: number): void;
  /** A whole number from 0 up to 2^53. */
  varint(value: number): void;
  /** A whole number of either sign. */
  zigzag(value: number): void;
  bytes(value: Uint8Array): void;
  /** Eight bytes. */
  float(value: number): void;
  done(): Uint8Array;
}

/** Reads what `createWriter` wrote. Fails with a RangeError behind the end. */
export interface ByteReader {
  byte(): number;
  varint(): number;
  zigzag(): number;
  bytes(count: number): Uint8Array;
  float(): number;
  isAtEnd(): boolean;
}

export function createByteWriter(): ByteWriter {
  let buffer = new Uint8Array(256);
  let view = new DataView(buffer.buffer);
  let at = 0;

  function room(count: number): void {
    if (at + count <= buffer.length) return;
    const larger = new Uint8Array(Math.max(buffer.length * 2, at + count));
    larger.set(buffer);
    buffer = larger;
    view = new DataView(buffer.buffer);
  }

  const varint = (value: number) => {
    room(8);
    // Larger ones would be longer than that, and an infinite one would never end.
    let rest = Math.max(0, Math.min(value, Number.MAX_SAFE_INTEGER));
    while (rest >= 128) {
      buffer[at] = (rest % 128) + 128;
      at += 1;
      rest = Math.floor(rest / 128);
    }
    buffer[at] = rest;
    at += 1;
  };

  return {
    byte(value) {
      room(1);
      buffer[at] = value;
      at += 1;
    },
    varint,
    zigzag: (value) => varint(value < 0 ? -value * 2 - 1 : value * 2),
    bytes(value) {
      room(value.length);
      buffer.set(value, at);
      at += value.length;
    },
    float(value) {
      room(8);
      view.setFloat64(at, value, true);
      at += 8;
    },
    done: () => buffer.slice(0, at),
  };
}

export function createByteReader(buffer: Uint8Array): ByteReader {
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  let at = 0;
  const byte = () => {
    const value = buffer[at];
    if (value === undefined) throw new RangeError("the bytes of a chunk end too early");
    at += 1;
    return value;
  };
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const part = byte();
      value += (part % 128) * factor;
      if (part < 128) return value;
    }
  };
  return {
    byte,
    varint,
    zigzag() {
      const value = varint();
      return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
    },
    bytes(count) {
      if (at + count > buffer.length) throw new RangeError("the bytes of a chunk end too early");
      at += count;
      return buffer.subarray(at - count, at);
    },
    float() {
      if (at + 8 > buffer.length) throw new RangeError("the bytes of a chunk end too early");
      at += 8;
      return view.getFloat64(at - 8, true);
    },
    isAtEnd: () => at >= buffer.length,
  };
}
