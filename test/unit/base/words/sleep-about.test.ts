import { expect, test } from "bun:test";
import { sleepAbout } from "../../../../src/base/words/sleep-about.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";

function place() {
  const clock = createFakeClock();
  const over = new AbortController();
  const woken: string[] = [];
  const loop = async (name: string, ms: number, signal = over.signal) => {
    while (!signal.aborted) {
      await sleepAbout(clock, ms, signal);
      woken.push(name);
    }
  };
  const pass = async (ms: number) => {
    clock.moveTo(clock.steady() + ms);
    await Bun.sleep(0);
  };
  return { clock, over, woken, loop, pass };
}

test("loops that began at any time wake together, with one timer, each as often as it asks", async () => {
  const { clock, over, woken, loop, pass } = place();
  const loops = [];
  for (const [name, ms] of Object.entries({ a: 1_000, b: 1_000, c: 2_000, d: 5_000 })) {
    loops.push(loop(name, ms));
    await pass(130);
  }
  const timers = new Set<number | undefined>();
  for (let second = 0; second < 20; second++) {
    timers.add((clock.nextDue() ?? 0) % 1_000);
    expect(clock.sleepers).toBeLessThanOrEqual(3);
    await pass((clock.nextDue() ?? 0) - clock.steady());
  }
  expect([...timers]).toEqual([0]);
  const count = (name: string) => woken.filter((one) => one === name).length;
  expect([count("a"), count("b"), count("c"), count("d")]).toEqual([20, 20, 10, 4]);
  over.abort();
  await Promise.all(loops);
  expect(clock.sleepers).toBe(0);
});

test("a sleep is at most half a step shorter or longer than asked for, and exact below the smallest step", async () => {
  for (const [offset, ms, expected] of [
    [0, 5_000, 5_000],
    [400, 5_000, 4_600],
    [600, 5_000, 5_400],
    [600, 1_000, 1_400],
    [400, 900, 1_100],
    [400, 500, 600],
    [600, 500, 400],
    [400, 499, 499],
    [400, 0, 0],
  ] as const) {
    const { clock, over, pass } = place();
    await pass(offset);
    const slept = sleepAbout(clock, ms, over.signal);
    expect((clock.nextDue() ?? clock.steady()) - clock.steady()).toBe(expected);
    over.abort();
    await slept;
  }
});

test("how late a sleep ends is told, for one that ends with others and for a short one", async () => {
  for (const [ms, lateMs] of [
    [5_000, 0],
    [5_000, 130],
    [100, 30],
  ] as const) {
    const { clock, over } = place();
    const slept = sleepAbout(clock, ms, over.signal);
    clock.moveTo(clock.steady() + ms + lateMs);
    expect(await slept).toBe(lateMs);
  }
  const { clock } = place();
  expect(await sleepAbout(clock, 5_000, AbortSignal.abort())).toBe(0);
});

test("who leaves wakes nobody else, and the last one takes the timer along", async () => {
  const { clock, over, woken, loop, pass } = place();
  const other = new AbortController();
  const loops = [loop("stays", 3_000), loop("leaves", 3_000, other.signal)];
  expect(clock.sleepers).toBe(1);
  other.abort();
  await pass(0);
  expect([woken, clock.sleepers]).toEqual([["leaves"], 1]);
  over.abort();
  await Promise.all(loops);
  expect(clock.sleepers).toBe(0);
  await sleepAbout(clock, 3_000, over.signal);
  expect(clock.sleepers).toBe(0);
});
