import { Failure } from "../wire/failure.ts";
import type { Clock } from "../words/clock.ts";

/**
 * Holds back what acts by itself: timers, deliveries, orders. It is closed after a restore until an operator confirms it,
 * so that a copy of a server does nothing that the original does as well; and it closes again when another server has
 * taken the place of this one.
 */
export interface Gate {
  isOpen(): boolean;
  /** Why it is closed, and what to do; undefined while it is open. */
  heldBy(): string | undefined;
  /** Like `isOpen`, after what may have closed it meanwhile was asked where that is long ago: before a timer acts. */
  isSurelyOpen(): Promise<boolean>;
  /** Epoch milliseconds: what was due before may have been done by the server whose place this one took. */
  actsSince(): number;
  /** Fails `conflict` while it is closed. `what` begins the text: "jobs do not run". */
  mustBeOpen(what: string): void;
  /** `send`, which fails as `mustBeOpen` does while the gate is closed. */
  guard<A extends unknown[], R>(what: string, send: (...args: A) => Promise<R>): (...args: A) => Promise<R>;
  /**
   * A loop that begins once the gate is open, and not at all where `signal` aborts before. A server whose gate closes again
   * ends this life of its loops itself.
   */
  whenOpen(loop: (signal: AbortSignal) => Promise<void>): (signal: AbortSignal) => Promise<void>;
}

interface GateOptions {
  /** Why nothing acts, and what to do; undefined where it may. */
  heldBy: () => string | undefined;
  /** Asks whether another server acts, where nothing was heard of that for long. */
  askAgain?: () => Promise<void>;
  actsSince?: () => number;
  clock: Clock;
  /** How often it is looked whether it is open now, milliseconds. */
  lookMs: number;
}

export function createGate({ heldBy, askAgain, actsSince = () => 0, clock, lookMs }: GateOptions): Gate {
  const isOpen = () => heldBy() === undefined;
  const mustBeOpen = (what: string) => {
    const why = heldBy();
    if (why !== undefined) throw new Failure("conflict", `${what}: ${why}`);
  };
  return {
    isOpen,
    heldBy,
    actsSince,
    async isSurelyOpen() {
      if (isOpen()) await askAgain?.();
      return isOpen();
    },
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
