/** How long tests wait for something that should happen soon, unless they say otherwise. */
export const patienceMs = 20_000;

/**
 * Polls until `probe` returns something else than undefined or false, and returns that. A probe that throws counts as
 * "not yet". Fails with `what`, and the last error, after `timeoutMs`.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  timeoutMs: number = patienceMs,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause: last });
    await Bun.sleep(25);
  }
}

/** Whether a process with this id is there. One that has ended and was not waited for still is. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
