import { Failure } from "../wire/failure.ts";
import type { Clock } from "../words/clock.ts";

/**
 * Holds back what acts by itself: timers, deliveries, orders. It is closed after a restore until an operator confirms it,
 * so that a copy of a server does nothing that the original does as well. Once open, it stays open.
 */
export interface Gate {
  isOpen(): boolean;
  /** Fails `conflict` while it is closed. `what` begins the text: "jobs do not run". */
  mustBeOpen(what: string): void;
  /** `send`, which fails as `mustBeOpen` does while the gate is closed. */
  guard<A extends unknown[], R>(what: string, send: (...args: A) => Promise<R>): (...args: A) => Promise<R>;
  /** A loop that begins once the gate is open, and not at all where `signal` aborts before. */
  whenOpen(loop: (signal: AbortSignal) => Promise<void>): (signal: AbortSignal) => Promise<void>;
}

interface GateOptions {
  isHeld: () => boolean;
  clock: Clock;
  /** How often it is looked whether it is open now, milliseconds. */
  lookMs: number;
}

export function createGate({ isHeld, clock, lookMs }: GateOptions): Gate {
  let open = false;
  const isOpen = () => {
    open ||= !isHeld();
    return open;
  };
  const mustBeOpen = (what: string) => {
    if (isOpen()) return;
    throw new Failure("conflict", `${what}: this server was restored from a backup; first: berth restore --confirm`);
  };
  return {
    isOpen,
    mustBeOpen,
    guard:
      (what, send) =>
      async (...args) => {
        mustBeOpen(what);
        return send(...args);
      },
    whenOpen: (loop) => async (signal) => {
      while (!isOpen() && !signal.aborted) await clock.sleep(lookMs, signal);
      if (!signal.aborted) await loop(signal);
    },
  };
}
