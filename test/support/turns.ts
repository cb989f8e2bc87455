import type { FakeClock } from "./fake-clock.ts";

/** Lets everything happen that can happen without time passing. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Moves a fake clock from one sleeper to the next; what each begins is done before time goes on. */
export function createAdvance(clock: FakeClock, untilQuiet: () => Promise<void>): (ms: number) => Promise<void> {
  return async (ms) => {
    const until = clock.steady() + ms;
    await untilQuiet();
    for (let due = clock.nextDue(); due !== undefined && due <= until; due = clock.nextDue()) {
      clock.moveTo(due);
      await untilQuiet();
    }
    clock.moveTo(until);
    await untilQuiet();
  };
}

export function createTurns(clock: FakeClock) {
  return { quiet, advance: createAdvance(clock, quiet) };
}
