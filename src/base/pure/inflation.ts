/** How much compressed bytes may grow. */
export interface InflationLimits {
  /** So many times what came. Text and programs stay far below; a thousand is what gzip can do at most. */
  ratioMax: number;
  /** As much as this is always taken: small things repeat themselves. */
  freeBytes: number;
}

/** The most that `packedBytes` may become. */
export function inflatedMax(packedBytes: number, { ratioMax, freeBytes }: InflationLimits): number {
  return Math.max(freeBytes, packedBytes * ratioMax);
}
