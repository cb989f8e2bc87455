import type { ByteReader, ByteWriter } from "./varint.ts";

/** How the values of a column are written. */
const form = { empty: 0, same: 1, steps: 2, floats: 3 } as const;

/** Powers of ten that make a column whole numbers: most figures are counts, bytes, or percent with two decimals. */
export const scales = [1, 10, 100, 1_000] as const;

/** Beyond it, differences of two values are not exact. */
const wholeMax = 2 ** 51;

/** Writes a column of numbers; NaN stands for "no sample". Every number comes back exactly as it was. */
export function writeColumn(writer: ByteWriter, values: Float64Array): void {
  const present = values.filter((value) => !Number.isNaN(value));
  const first = present[0];
  if (first === undefined) writer.byte(form.empty);
  else if (present.every((value) => Object.is(value, first))) {
    writer.byte(form.same);
    writePresence(writer, values);
    writer.float(first);
  } else writeVaried(writer, values, present);
}

function writeVaried(writer: ByteWriter, values: Float64Array, present: Float64Array): void {
  const scale = scaleOf(present);
  const factor = scales[scale];
  writer.byte(factor === undefined ? form.floats : form.steps);
  writePresence(writer, values);
  if (factor === undefined) writeFloats(writer, present);
  else {
    writer.byte(scale);
    writeSteps(writer, present, factor);
  }
}

/** Reads `length` values that `writeColumn` wrote. */
export function readColumn(reader: ByteReader, length: number): Float64Array {
  const values = new Float64Array(length).fill(Number.NaN);
  const kind = reader.byte();
  if (kind === form.empty) return values;
  const slots = readPresence(reader, length);
  if (kind === form.same) {
    const value = reader.float();
    for (const slot of slots) values[slot] = value;
  } else if (kind === form.steps) readSteps(reader, values, slots);
  else if (kind === form.floats) readFloats(reader, values, slots);
  else throw new RangeError(`a column has the unknown form ${kind}`);
  return values;
}

/** Index of the first power of ten that makes all of them whole numbers, exactly; -1 where none does. NaN counts as whole. */
export function scaleOf(values: Float64Array): number {
  return scales.findIndex((factor) => values.every((value) => Number.isNaN(value) || isWhole(value, factor)));
}

function isWhole(value: number, factor: number): boolean {
  const scaled = Math.round(value * factor);
  return Math.abs(scaled) < wholeMax && scaled / factor === value && !Object.is(value, -0);
}

function writeSteps(writer: ByteWriter, present: Float64Array, factor: number): void {
  let before = 0;
  for (const value of present) {
    const whole = Math.round(value * factor);
    writer.zigzag(whole - before);
    before = whole;
  }
}

function readSteps(reader: ByteReader, values: Float64Array, slots: readonly number[]): void {
  const factor = scales[reader.byte()];
  if (factor === undefined) throw new RangeError("a column has an unknown scale");
  let whole = 0;
  for (const slot of slots) {
    whole += reader.zigzag();
    values[slot] = whole / factor;
  }
}

/** Byte by byte of all values: their first bytes are alike, which the compression behind finds. */
function writeFloats(writer: ByteWriter, present: Float64Array): void {
  const bytes = new Uint8Array(present.buffer, present.byteOffset, present.byteLength);
  for (let place = 0; place < 8; place++) {
    for (let at = place; at < bytes.length; at += 8) writer.byte(bytes[at] ?? 0);
  }
}

function readFloats(reader: ByteReader, values: Float64Array, slots: readonly number[]): void {
  const present = new Float64Array(slots.length);
  const bytes = new Uint8Array(present.buffer);
  for (let place = 0; place < 8; place++) {
    for (let at = place; at < bytes.length; at += 8) bytes[at] = reader.byte();
  }
  slots.forEach((slot, index) => {
    values[slot] = present[index] ?? Number.NaN;
  });
}

/** Lengths of runs: so many absent, so many there, so many absent. */
function writePresence(writer: ByteWriter, values: Float64Array): void {
  let at = 0;
  while (at < values.length) {
    const start = at;
    while (at < values.length && Number.isNaN(values[at])) at += 1;
    writer.varint(at - start);
    const there = at;
    while (at < values.length && !Number.isNaN(values[at])) at += 1;
    writer.varint(at - there);
  }
}

function readPresence(reader: ByteReader, length: number): number[] {
  const slots: number[] = [];
  let at = 0;
  while (at < length) {
    at += reader.varint();
    const end = at + reader.varint();
    if (end > length) throw new RangeError("a column is longer than its chunk");
    for (; at < end; at++) slots.push(at);
  }
  return slots;
}
