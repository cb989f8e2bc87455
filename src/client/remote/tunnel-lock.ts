import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Clock } from "../../base/words/clock.ts";
import { CommandFailure } from "../basics/failures.ts";
import { diskFailure } from "../../base/wire/disk-failure.ts";
import { isAlive } from "../../base/words/alive.ts";

interface Waiting {
  clock: Clock;
  patienceMs: number;
  signal: AbortSignal;
}

const pauseMs = 50;

/**
 * Runs `work` in one process at a time. A process that has ended holds nothing. Answers undefined when another process
 * has it for longer than `patienceMs`, or when the operator interrupts.
 */
export async function withLock<T>(file: string, { clock, patienceMs, signal }: Waiting, work: () => Promise<T>) {
  const end = clock.now() + patienceMs;
  while (!take(file)) {
    if (signal.aborted || clock.now() > end) return undefined;
    await clock.sleep(pauseMs);
  }
  try {
    return { value: await work() };
  } finally {
    rmSync(file, { force: true });
  }
}

/** The name of the lock and its content appear together. */
function take(file: string): boolean {
  const own = `${file}.${process.pid}`;
  try {
    writeFileSync(own, String(process.pid), { mode: 0o600 });
    linkSync(own, file);
    return true;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw new CommandFailure(cannotLock(error, file));
    removeIfLeft(file);
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

/** The disk of this machine is at fault, and not the way to the server. */
function cannotLock(error: unknown, file: string): string {
  const failure = diskFailure(error, file);
  return failure instanceof Error ? failure.message : String(failure);
}

function removeIfLeft(file: string): void {
  const holder = holderOf(file);
  if (holder === undefined || isAlive(holder)) return;
  // Another process may have replaced it meanwhile: look again, as late as possible.
  if (holderOf(file) === holder) rmSync(file, { force: true });
}

function holderOf(file: string): number | undefined {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
