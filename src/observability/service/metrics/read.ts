import { overlay, type Placed } from "../../core/metrics/rollup.ts";
import { chunkMs, chunkStart, finer, rawTier, type Tier } from "../../core/metrics/tiers.ts";
import type { MetricsStore } from "../../store/metrics/metrics-store.ts";
import type { Head } from "./head.ts";
import { wholeUntil } from "./seal.ts";

/** A chunk of a tier. */
export interface TierChunk extends Placed {
  tier: Tier;
}

export interface Span {
  from: number;
  to: number;
}

/**
 * The chunks of a series that hold a span, oldest first: those of the tier, and of finer ones where the tier is not made
 * yet. No slot comes twice.
 */
export function readSpan({ store, head }: { store: MetricsStore; head: Head }, series: number, tier: Tier) {
  const wholes = new Map<Tier, number>();
  const whole = (one: Tier) => {
    const known = wholes.get(one) ?? store.fact(wholeUntil(one)) ?? 0;
    wholes.set(one, known);
    return known;
  };

  function read(one: Tier, { from, to }: Span): TierChunk[] {
    if (from >= to) return [];
    const below = finer(one);
    if (below === undefined) return rawChunks({ from, to });
    const end = Math.min(to, whole(one));
    const own = from < end ? stored(one, { from, to: end }) : [];
    return [...own, ...read(below, { from: Math.max(from, whole(one)), to })];
  }

  function stored(one: Tier, { from, to }: Span): TierChunk[] {
    const chunks: TierChunk[] = [];
    for (let start = chunkStart(one, from); start < to; start += chunkMs(one)) {
      const chunk = store.chunk(one, start, series);
      if (chunk !== undefined) chunks.push({ tier: one, start, chunk });
    }
    return chunks;
  }

  function rawChunks({ from, to }: Span): TierChunk[] {
    const chunks: TierChunk[] = [];
    for (let start = chunkStart(rawTier, from); start < to; start += chunkMs(rawTier)) {
      const open = head.chunk(start, series);
      const kept = store.chunk(rawTier, start, series);
      const chunk = open === undefined || kept === undefined ? (open ?? kept) : overlay(kept, open);
      if (chunk !== undefined) chunks.push({ tier: rawTier, start, chunk });
    }
    return chunks;
  }

  return (span: Span) => read(tier, span);
}
