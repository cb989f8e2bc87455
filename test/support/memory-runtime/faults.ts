import { Failure } from "../../../src/base/wire/failure.ts";
import { unlessAborted } from "../../../src/base/words/abort.ts";
import type { Engine } from "../../../src/orchestration/engine/engine.ts";

export type Operation = Exclude<keyof Engine, "close">;

export interface Sleeper {
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** What stands between a caller and the memory runtime: the log of calls, outages, injected failures and delays. */
export interface Faults {
  /** Every call as `<operation> <subject>`, oldest first. */
  readonly calls: string[];
  /** Logs the call, waits and fails as told, else acts: at once and undivided. */
  does<T>(operation: Operation, subject: string, act: () => T): Promise<T>;
  fail(operation: Operation, failure: Failure | undefined, times?: number): void;
  delay(operation: Operation, ms: number): void;
  setDown(down: boolean): void;
  /** Calls wait until it goes on, or is suspended. */
  setHanging(hanging: boolean): void;
  suspend(why: () => Failure): void;
  resume(): void;
  /** As `does`, but it is not logged, and a suspension does not hold it back. */
  ping(signal: AbortSignal): Promise<void>;
  isDown(): boolean;
}

export function createFaults(clock: Sleeper): Faults {
  const calls: string[] = [];
  const failures = new Map<Operation, { failure: Failure; left: number }>();
  const delays = new Map<Operation, number>();
  let down = false;
  let hang: PromiseWithResolvers<void> | undefined;
  let suspended: (() => Failure) | undefined;
  let suspension = Promise.withResolvers<void>();

  const injected = (operation: Operation) => {
    const entry = failures.get(operation);
    if (entry === undefined) return undefined;
    entry.left -= 1;
    if (entry.left <= 0) failures.delete(operation);
    return entry.failure;
  };

  return {
    calls,
    does: async (operation, subject, act) => {
      calls.push(`${operation} ${subject}`.trim());
      const ms = delays.get(operation) ?? 0;
      if (ms > 0) await clock.sleep(ms);
      if (hang !== undefined && suspended === undefined) await Promise.race([hang.promise, suspension.promise]);
      if (suspended !== undefined) throw suspended();
      if (down) throw engineDown();
      const failure = injected(operation);
      if (failure !== undefined) throw failure;
      return act();
    },
    fail: (operation, failure, times = Number.POSITIVE_INFINITY) => {
      if (failure === undefined || times <= 0) failures.delete(operation);
      else failures.set(operation, { failure, left: times });
    },
    delay: (operation, ms) => void delays.set(operation, ms),
    setDown: (value) => {
      down = value;
    },
    isDown: () => down,
    setHanging(hanging) {
      hang?.resolve();
      hang = hanging ? Promise.withResolvers() : undefined;
    },
    suspend(why) {
      suspended = why;
      suspension.resolve();
      suspension = Promise.withResolvers();
    },
    resume() {
      suspended = undefined;
    },
    async ping(signal) {
      if (hang !== undefined) await unlessAborted(hang.promise, signal);
      signal.throwIfAborted();
      if (down) throw engineDown();
    },
  };
}

export function engineDown(): Failure {
  return new Failure("unavailable", "the engine cannot be reached; start it", { reason: "EngineUnavailable" });
}
