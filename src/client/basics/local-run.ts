import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { exitCodes } from "./failures.ts";

/** A program on the operator's own terminal. */
interface LocalProgram {
  argv: readonly string[];
  /** Beside the client's own environment. */
  env: Readonly<Record<string, string>>;
}

/**
 * Runs it to its end, with the client's own streams; answers with its exit code: 128 and
 * more where a signal ended it, 127 where it is not there.
 */
export type RunLocal = (program: LocalProgram) => Promise<number>;

/** What the shell says of programs that are not there. */
export const notFoundCode = 127;

/** With the client's environment as `variables`. */
export function createRunLocal(variables: Readonly<Record<string, string | undefined>>): RunLocal {
  return async ({ argv, env }) => {
    const passOn = (signal: NodeJS.Signals) => child?.kill(signal);
    let child: Bun.Subprocess | undefined;
    const restore = leaveSignalsToChild(passOn);
    try {
      const streams = { stdin: "inherit", stdout: "inherit", stderr: "inherit" } as const;
      child = Bun.spawn([...argv], { ...streams, env: { ...variables, ...env } });
      return await child.exited;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return notFoundCode;
      throw error;
    } finally {
      restore();
    }
  };
}

/**
 * Ctrl-C reaches the child as well, which has its own mind about it: `psql` only ends a query. A request to end comes to
 * this process alone: the child gets it too, and nothing is left without a terminal.
 */
function leaveSignalsToChild(passOn: (signal: NodeJS.Signals) => void): () => void {
  const instead = { SIGINT: () => undefined, SIGTERM: () => passOn("SIGTERM"), SIGHUP: () => passOn("SIGHUP") };
  const restores = Object.entries(instead).map(([signal, handler]) => {
    const ours = process.listeners(signal as NodeJS.Signals);
    if (ours.length === 0) return () => undefined;
    process.removeAllListeners(signal).on(signal, handler);
    return () => {
      process.off(signal, handler);
      for (const listener of ours) process.on(signal, listener);
    };
  });
  return () => {
    for (const restore of restores) restore();
  };
}

/** Ctrl-C, a request to end, and a terminal that was closed: a command has the same way out of all of them. */
const handled = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

type Handled = (typeof handled)[number];

export interface Interruption {
  /** From now on the first signal aborts, and the second one ends the process whatever it is doing. */
  interruptible(): AbortSignal;
  /** The exit code of a command: an interrupted one ends with 128 and the number of the signal. */
  exitCodeOf(code: number): number;
}

/** After these signals no operator is there to send a second one: a command that does not come to its end is cut off. */
const graceMs = 5_000;

export function createInterruption(): Interruption {
  let first: Handled | undefined;
  const numberOf = (signal: Handled) => 128 + constants.signals[signal];
  const catchInto = (controller: AbortController, signal: Handled) => {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(numberOf(signal));
      first ??= signal;
      if (signal !== "SIGINT") setTimeout(() => process.exit(numberOf(signal)), graceMs).unref();
      controller.abort();
    });
  };
  return {
    interruptible() {
      const controller = new AbortController();
      const ignored = ignoredSignals();
      for (const signal of handled) if (!ignored(signal)) catchInto(controller, signal);
      return controller.signal;
    },
    exitCodeOf: (code) => (code === exitCodes.interrupted && first !== undefined ? numberOf(first) : code),
  };
}

/**
 * Signals that this process was started to ignore, as `nohup` does: they stay ignored. Where the kernel does not tell, a
 * closed terminal is left to it.
 */
function ignoredSignals(): (signal: Handled) => boolean {
  try {
    const mask = /^SigIgn:\s*([\da-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
    const bits = Number.parseInt(mask.slice(-8), 16);
    return (signal) => (bits & (1 << (constants.signals[signal] - 1))) !== 0;
  } catch {
    return (signal) => signal === "SIGHUP";
  }
}
