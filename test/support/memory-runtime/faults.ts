import { Failure } from "../../../src/base/wire/failure.ts";
import type { Runtime } from "../../../src/orchestration/engine/runtime.ts";

export type Operation = Exclude<keyof Runtime, "close">;

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
  isDown(): boolean;
}

export function createFaults(clock: Sleeper): Faults {
  const calls: string[] = [];
  const failures = new Map<Operation, { failure: Failure; left: number }>();
  const delays = new Map<Operation, number>();
  let down = false;

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
  };
}

export function engineDown(): Failure {
  return new Failure("unavailable", "the engine cannot be reached; start it", { reason: "EngineUnavailable" });
}
