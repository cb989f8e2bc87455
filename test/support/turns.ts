import type { FakeClock } from "./fake-clock.ts";

/** Lets everything happen that can happen without time passing. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Moves a fake clock from one sleeper to the next; what each begins is done before time goes on. */
export function createTurns(clock: FakeClock) {
  return {
    quiet,
    async advance(ms: number): Promise<void> {
      const until = clock.steady() + ms;
      await quiet();
      for (let due = clock.nextDue(); due !== undefined && due <= until; due = clock.nextDue()) {
        clock.moveTo(due);
        await quiet();
      }
      clock.moveTo(until);
      await quiet();
    },
  };
}
