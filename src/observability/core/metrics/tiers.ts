/** How long one slot of a tier is. Coarser tiers hold sums over the slots of the next finer one. */
export interface Tier {
  name: "raw" | "m1" | "m15" | "h1";
  /** As it is stored. */
  id: number;
  slotMs: number;
}

const second = 1_000;
const minute = 60 * second;

/** From fine to coarse. Each slot is a multiple of the one before. */
export const tiers: readonly [Tier, ...Tier[]] = [
  { name: "raw", id: 0, slotMs: 15 * second },
  { name: "m1", id: 1, slotMs: minute },
  { name: "m15", id: 2, slotMs: 15 * minute },
  { name: "h1", id: 3, slotMs: 60 * minute },
];

/** Slots in one chunk, which is one row of the database: an hour of raw samples, ten days of hours. */
export const slotsPerChunk = 240;

export const rawTier = tiers[0];

export const chunkMs = (tier: Tier) => tier.slotMs * slotsPerChunk;

/** Where the chunk begins that holds `at`. */
export const chunkStart = (tier: Tier, at: number) => Math.floor(at / chunkMs(tier)) * chunkMs(tier);

export const slotOf = (tier: Tier, at: number) => Math.floor((at - chunkStart(tier, at)) / tier.slotMs);

/** The tier that is made from this one; undefined for the coarsest. */
export const coarser = (tier: Tier): Tier | undefined => tiers[tier.id + 1];

export const finer = (tier: Tier): Tier | undefined => (tier.id === 0 ? undefined : tiers[tier.id - 1]);
