import { addCounts, createHistogram, type Histogram } from "../../../base/pure/histogram.ts";
import { readColumn, scaleOf, scales, writeColumn } from "./column.ts";
import { slotsPerChunk } from "./tiers.ts";
import { type ByteReader, type ByteWriter, createByteReader, createByteWriter } from "./varint.ts";

/** One number per slot; NaN where there was no sample. */
export interface RawChunk {
  form: "raw";
  values: Float64Array;
}

/** What the samples of each slot came to. A slot without samples has the count 0, and NaN elsewhere. */
export interface RolledChunk {
  form: "rolled";
  count: Float64Array;
  sum: Float64Array;
  min: Float64Array;
  max: Float64Array;
  last: Float64Array;
}

/** A distribution per slot, in every tier. */
export interface HistogramChunk {
  form: "histogram";
  slots: (Histogram | undefined)[];
}

export type Chunk = RawChunk | RolledChunk | HistogramChunk;

const forms = ["raw", "rolled", "histogram"] as const;

const empty = () => new Float64Array(slotsPerChunk).fill(Number.NaN);

export const createRaw = (): RawChunk => ({ form: "raw", values: empty() });

export const createRolled = (): RolledChunk => ({
  form: "rolled",
  count: new Float64Array(slotsPerChunk),
  sum: empty(),
  min: empty(),
  max: empty(),
  last: empty(),
});

export const createHistograms = (): HistogramChunk => ({
  form: "histogram",
  slots: Array.from({ length: slotsPerChunk }, () => undefined),
});

/** A chunk as bytes, exact in every number. They are worth compressing. */
export function encodeChunk(chunk: Chunk): Uint8Array {
  const writer = createByteWriter();
  writer.byte(forms.indexOf(chunk.form));
  if (chunk.form === "raw") writeColumn(writer, chunk.values);
  else if (chunk.form === "rolled") writeRolled(writer, chunk);
  else for (const slot of chunk.slots) writeHistogram(writer, slot);
  return writer.done();
}

/** Reads what `encodeChunk` wrote. Fails with a RangeError for bytes of something else. */
export function decodeChunk(bytes: Uint8Array): Chunk {
  const reader = createByteReader(bytes);
  const form = forms[reader.byte()];
  if (form === "raw") return { form, values: readColumn(reader, slotsPerChunk) };
  if (form === "rolled") return readRolled(reader);
  if (form === "histogram") {
    return { form, slots: Array.from({ length: slotsPerChunk }, () => readHistogram(reader)) };
  }
  throw new RangeError("a chunk has an unknown form");
}

/**
 * Most slots have as many samples as the one before, and minimum, maximum and last lie close to each other: what is
 * stored is how far each is from its neighbour, where that is exact.
 */
function writeRolled(writer: ByteWriter, { count, sum, min, max, last }: RolledChunk): void {
  writeColumn(writer, count);
  writeColumn(writer, sum);
  writeColumn(writer, min);
  writeRelative(writer, max, min);
  writeRelative(writer, last, min);
}

function readRolled(reader: ByteReader): RolledChunk {
  const column = () => readColumn(reader, slotsPerChunk);
  const [count, sum, min] = [column(), column(), column()];
  return { form: "rolled", count, sum, min, max: readRelative(reader, min), last: readRelative(reader, min) };
}

/** As the distance from `base` where both are whole numbers at some scale, which makes the way back exact. */
function writeRelative(writer: ByteWriter, values: Float64Array, base: Float64Array): void {
  const scale = Math.max(scaleOf(values), scaleOf(base));
  const factor = scaleOf(values) === -1 || scaleOf(base) === -1 ? undefined : scales[scale];
  const distance =
    factor === undefined ? undefined : values.map((value, slot) => whole(value, factor) - whole(base[slot], factor));
  const isExact =
    factor !== undefined &&
    distance?.every((far, slot) => Object.is((far + whole(base[slot], factor)) / factor, values[slot])) === true;
  writer.byte(isExact ? scale + 1 : 0);
  writeColumn(writer, isExact && distance !== undefined ? distance : values);
}

function readRelative(reader: ByteReader, base: Float64Array): Float64Array {
  const scale = reader.byte();
  const column = readColumn(reader, slotsPerChunk);
  if (scale === 0) return column;
  const factor = scales[scale - 1];
  if (factor === undefined) throw new RangeError("a chunk has an unknown scale");
  return column.map((far, slot) => (far + whole(base[slot], factor)) / factor);
}

const whole = (value: number | undefined, factor: number) => Math.round((value ?? Number.NaN) * factor);

/** Number of buckets, then each as the distance from the one before, with its count. */
export function writeHistogram(writer: ByteWriter, histogram: Histogram | undefined): void {
  const rows = histogram === undefined ? [] : [...histogram.counts].sort(([a], [b]) => a - b);
  writer.varint(rows.length);
  let before = 0;
  for (const [bucket, count] of rows) {
    writer.varint(bucket - before);
    writer.varint(count);
    before = bucket;
  }
}

export function readHistogram(reader: ByteReader): Histogram | undefined {
  const rows = reader.varint();
  if (rows === 0) return undefined;
  const histogram = createHistogram();
  let bucket = 0;
  for (let row = 0; row < rows; row++) {
    bucket += reader.varint();
    addCounts(histogram, bucket, reader.varint());
  }
  return histogram;
}
