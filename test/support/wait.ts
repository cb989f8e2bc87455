import { readFileSync } from "node:fs";

/** How long tests wait for something that should happen soon, unless they say otherwise. */
export const patienceMs = 40_000;

/** Pauses between two looks: short at first, longer for what takes long, and three times as long as the look itself took. */
const pauseMsMin = 5;
const pauseMsMax = 100;
const pausesPerWait = 20;
const pausesPerLook = 3;

/**
 * Polls until `probe` returns something else than undefined or false, and returns that. A probe that throws counts as
 * "not yet". Fails with `what`, and the last error, after `timeoutMs`. `pauseMsLeast` is for looks that start processes.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  timeoutMs: number = patienceMs,
  pauseMsLeast = pauseMsMin,
): Promise<Exclude<T, undefined | false>> {
  const started = performance.now();
  let last: unknown;
  for (;;) {
    const looked = performance.now();
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
      last = undefined;
    } catch (error) {
      last = error;
    }
    const now = performance.now();
    if (now > started + timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause: last });
    const pauseMs = Math.min(Math.max(pauseMsMin, (now - started) / pausesPerWait), pauseMsMax);
    await Bun.sleep(Math.max(pauseMs, pauseMsLeast, pausesPerLook * (now - looked)));
  }
}

/** Whether a process with this id runs. One that has ended and whose parent has not asked for it yet does not. */
export function isAlive(pid: number): boolean {
  try {
    // The name in brackets may hold anything, so the state is what follows the last bracket.
    const state = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.charAt(0);
    return state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}
