import type { Chunk } from "../../core/metrics/chunk.ts";
import { overlay, partsOf, type Placed, rollUp } from "../../core/metrics/rollup.ts";
import { chunkMs, chunkStart, coarser, rawTier, type Tier, tiers } from "../../core/metrics/tiers.ts";
import type { MetricsStore } from "../../store/metrics/metrics-store.ts";
import type { Head } from "./head.ts";

interface SealParts {
  store: MetricsStore;
  head: Head;
  /** Lets others have their turn. */
  pause: () => Promise<void>;
  /** Series between two pauses. */
  sealedAtOnce: number;
  /** After the end of an hour, before it is sealed. */
  sealGraceMs: number;
}

/** Makes chunks of the hours that have passed, and those of the coarser tiers from them. */
interface Sealer {
  /** All that is due at `now`. Two calls at the same time do the work once. */
  seal(now: number): Promise<void>;
}

/** The name of the fact that says up to which instant a tier is whole. */
export const wholeUntil = (tier: Tier) => `whole-until-${tier.name}`;

/**
 * A process that is killed in the middle loses nothing: the rows of an hour go with the commit of its last chunk, and
 * sealing the same hour twice gives the same chunks.
 */
export function createSealer(parts: SealParts): Sealer {
  let running: Promise<void> | undefined;
  const sealAll = async (now: number) => {
    await sealHours(parts, now);
    for (const tier of tiers.slice(1)) await sealTier(parts, tier, now);
  };
  return {
    seal(now) {
      running ??= sealAll(now).finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

/** Hours that have passed, and hours that a clock that was wrong has filled in the future. */
async function sealHours(parts: SealParts, now: number): Promise<void> {
  const current = chunkStart(rawTier, now - parts.sealGraceMs);
  const upcoming = chunkStart(rawTier, now);
  for (const start of parts.head.starts()) {
    if (start === current || start === upcoming) continue;
    await sealHour(parts, start, now);
  }
}

async function sealHour(parts: SealParts, start: number, now: number): Promise<void> {
  const { store, head } = parts;
  const ids = head.series(start);
  for (let at = 0; at < ids.length; at += parts.sealedAtOnce) {
    const some = ids.slice(at, at + parts.sealedAtOnce);
    store.together(() => {
      for (const series of some) {
        const fresh = head.chunk(start, series);
        if (fresh === undefined) continue;
        const stored = store.chunk(rawTier, start, series);
        store.putChunk(rawTier, start, { series, chunk: stored === undefined ? fresh : overlay(stored, fresh) });
      }
      store.seen(some, Math.min(now, start + chunkMs(rawTier)));
    });
    await parts.pause();
  }
  store.together(() => {
    store.dropTail(start, start + chunkMs(rawTier));
    reopen(store, rawTier, start);
  });
  head.drop(start);
}

/** A chunk that changed after the coarser tier was made from it: that tier is no longer whole there. */
function reopen(store: MetricsStore, tier: Tier, start: number): void {
  const into = coarser(tier);
  if (into === undefined) return;
  const whole = store.fact(wholeUntil(into));
  const begin = chunkStart(into, start);
  if (whole === undefined || whole <= begin) return;
  store.setFact(wholeUntil(into), begin);
  reopen(store, into, begin);
}

async function sealTier(parts: SealParts, tier: Tier, now: number): Promise<void> {
  const { store } = parts;
  const from = tiers[tier.id - 1];
  if (from === undefined) return;
  // A tier is made once the one below it is whole.
  const end = from === rawTier ? now - parts.sealGraceMs : (store.fact(wholeUntil(from)) ?? 0);
  const first = store.firstStart(from, Math.min(store.fact(wholeUntil(tier)) ?? 0, now));
  if (first === undefined) return;
  for (let start = chunkStart(tier, first); start + chunkMs(tier) <= end; start += chunkMs(tier)) {
    await sealSpan(parts, from, start);
    store.setFact(wholeUntil(tier), start + chunkMs(tier));
  }
}

async function sealSpan(parts: SealParts, from: Tier, start: number): Promise<void> {
  const { store } = parts;
  const into = coarser(from);
  if (into === undefined) return;
  const ids = store.seriesWithin(from, start, start + chunkMs(into));
  for (let at = 0; at < ids.length; at += parts.sealedAtOnce) {
    store.together(() => {
      for (const series of ids.slice(at, at + parts.sealedAtOnce)) {
        const chunk = rollUp(from, start, partsIn(store, { tier: from, start, series }));
        if (chunk !== undefined) store.putChunk(into, start, { series, chunk });
      }
    });
    await parts.pause();
  }
}

function partsIn(
  store: MetricsStore,
  { tier, start, series }: { tier: Tier; start: number; series: number },
): Placed[] {
  return partsOf(tier, start).flatMap((begin) => {
    const chunk: Chunk | undefined = store.chunk(tier, begin, series);
    return chunk === undefined ? [] : [{ start: begin, chunk }];
  });
}
