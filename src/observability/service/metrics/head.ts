import { createHistogram, mergeHistogram } from "../../../base/pure/histogram.ts";
import { createHistograms, createRaw, type HistogramChunk, type RawChunk } from "../../core/metrics/chunk.ts";
import type { Tick } from "../../core/metrics/tick.ts";
import { chunkStart, rawTier, slotOf } from "../../core/metrics/tiers.ts";

type OpenChunk = RawChunk | HistogramChunk;

/** The hours that are not chunks in the database yet, in memory. The same samples are the rows of `tail`. */
export interface Head {
  add(at: number, tick: Tick): void;
  chunk(start: number, series: number): OpenChunk | undefined;
  /** Where the open chunks begin, oldest first. */
  starts(): number[];
  /** Series with a sample in the chunk that begins at `start`. */
  series(start: number): number[];
  drop(start: number): void;
}

/** `isCounter`: of the series with this number. */
export function createHead(isCounter: (series: number) => boolean): Head {
  const open = new Map<number, Map<number, OpenChunk>>();

  function chunksAt(start: number): Map<number, OpenChunk> {
    const known = open.get(start) ?? new Map<number, OpenChunk>();
    open.set(start, known);
    return known;
  }

  return {
    add(at, tick) {
      const chunks = chunksAt(chunkStart(rawTier, at));
      const slot = slotOf(rawTier, at);
      for (const { id, value } of tick) {
        if (typeof value === "number") {
          const chunk = chunkOf(chunks, id, createRaw);
          if (chunk.form !== "raw") continue;
          const known = isCounter(id) ? chunk.values[slot] : undefined;
          chunk.values[slot] = known === undefined || Number.isNaN(known) ? value : known + value;
        } else {
          const chunk = chunkOf(chunks, id, createHistograms);
          if (chunk.form !== "histogram") continue;
          // Two readings may fall into one slot: what happened in both counts.
          const sum = chunk.slots[slot] ?? createHistogram();
          mergeHistogram(sum, value);
          chunk.slots[slot] = sum;
        }
      }
    },
    chunk: (start, series) => open.get(start)?.get(series),
    starts: () => [...open.keys()].sort((a, b) => a - b),
    series: (start) => [...(open.get(start)?.keys() ?? [])].sort((a, b) => a - b),
    drop(start) {
      open.delete(start);
    },
  };
}

function chunkOf(chunks: Map<number, OpenChunk>, id: number, make: () => OpenChunk): OpenChunk {
  const known = chunks.get(id) ?? make();
  chunks.set(id, known);
  return known;
}
