import { durationMs } from "./duration.ts";
import { isFields } from "./fields.ts";

/** What a block says about failover. */
export interface FailoverOptions {
  /** How long the primary is not ready before another pod takes over. */
  afterMs: number;
  /** A write is acknowledged only when a standby has it: then none may be lost. */
  synchronous: boolean;
}

/** Undefined where the block has no `failover`: nothing is promoted by itself. */
export function failoverOf(spec: unknown): FailoverOptions | undefined {
  const written = isFields(spec) ? spec.failover : undefined;
  if (!isFields(written)) return undefined;
  const { after, synchronous } = written;
  return {
    afterMs: durationMs(typeof after === "string" ? after : defaultAfter) ?? 0,
    synchronous: synchronous === true,
  };
}

export const defaultAfter = "30s";
