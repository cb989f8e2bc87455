import { type InflationLimits, inflatedMax } from "../pure/inflation.ts";
import { Failure } from "./failure.ts";

/** Told each piece of what comes out of compressed bytes; fails `too_large` once that is out of proportion. */
export type InflationGuard = (piece: Uint8Array) => void;

/**
 * Against archives of a few bytes that fill a disk or a processor: those that keep below every other limit, because what
 * they hold is passed over, and those that name the same bytes again and again. `packedBytes`: of the whole archive where
 * that is known, else of what came so far.
 */
export function inflationGuard(packedBytes: () => number, limits: InflationLimits): InflationGuard {
  let bytes = 0;
  return (piece) => {
    bytes += piece.length;
    if (bytes <= inflatedMax(packedBytes(), limits)) return;
    const { ratioMax, freeBytes } = limits;
    throw new Failure(
      "too_large",
      `the archive unpacks to more than ${ratioMax} times its size; up to ${freeBytes} bytes that does not matter`,
    );
  };
}
