import type { Histogram } from "../../../base/pure/histogram.ts";
import { readHistogram, writeHistogram } from "./chunk.ts";
import { createByteReader, createByteWriter } from "./varint.ts";

/** Samples of one instant, by the number of their series. */
export type Tick = readonly { id: number; value: number | Histogram }[];

const forms = { number: 0, histogram: 1 } as const;

/** One row of what has not become chunks yet. */
export function encodeTick(tick: Tick): Uint8Array {
  const writer = createByteWriter();
  let before = 0;
  for (const { id, value } of tick.toSorted((a, b) => a.id - b.id)) {
    writer.varint(id - before);
    before = id;
    writer.byte(typeof value === "number" ? forms.number : forms.histogram);
    if (typeof value === "number") writer.float(value);
    else writeHistogram(writer, value);
  }
  return writer.done();
}

/** Reads what `encodeTick` wrote. Fails with a RangeError for bytes of something else. */
export function decodeTick(bytes: Uint8Array): Tick {
  const reader = createByteReader(bytes);
  const tick: { id: number; value: number | Histogram }[] = [];
  let id = 0;
  while (!reader.isAtEnd()) {
    id += reader.varint();
    const value = reader.byte() === forms.number ? reader.float() : readHistogram(reader);
    if (value !== undefined) tick.push({ id, value });
  }
  return tick;
}
