import { Transform } from "node:stream";
import type { InflationGuard } from "../wire/inflation-guard.ts";

/** Hands on what a guard lets pass. */
export function guarded(guard: InflationGuard): Transform {
  return new Transform({
    transform(piece: Uint8Array, _, done) {
      try {
        guard(piece);
        done(null, piece);
      } catch (error) {
        done(error as Error);
      }
    },
  });
}
