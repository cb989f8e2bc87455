import { afterEach, beforeEach, expect, test } from "bun:test";
import { createLooks } from "../../../../src/ingress/proxy/looks.ts";
import { createFakeClock, type FakeClock } from "../../../support/fake-clock.ts";

let clock: FakeClock;
let pauseMs: number;
let looks: number;
let isFailing: boolean;
let over: AbortController;
let running: Promise<void>;
let stir: () => void;

beforeEach(() => {
  clock = createFakeClock();
  [pauseMs, looks, isFailing] = [1_000, 0, false];
  over = new AbortController();
  const made = createLooks({
    clock,
    pauseMs: () => pauseMs,
    async look() {
      looks += 1;
      if (isFailing) throw new Error("no answer");
    },
    onFailure: () => undefined,
  });
  stir = made.stir;
  running = made.run(over.signal);
});

afterEach(async () => {
  over.abort();
  await running;
  expect(clock.sleepers).toBe(0);
});

async function pass(ms: number): Promise<number> {
  clock.moveTo(clock.steady() + ms);
  await Bun.sleep(0);
  return looks;
}

test("a look comes after each pause, and sooner when there is more to look for", async () => {
  expect([await pass(999), await pass(1), await pass(999), await pass(1)]).toEqual([0, 1, 1, 2]);
  pauseMs = 60_000;
  expect([await pass(1_000), await pass(59_000)]).toEqual([3, 3]);
  pauseMs = 200;
  stir();
  await Bun.sleep(0);
  expect(looks).toBe(4);
  expect([await pass(199), await pass(1)]).toEqual([4, 5]);
});

test("changes without an end put no look off", async () => {
  for (let at = 0; at < 1_000; at += 10) {
    stir();
    await pass(10);
  }
  expect(looks).toBe(1);
});

test("the pause doubles with each failure in a row", async () => {
  isFailing = true;
  expect([await pass(1_000), await pass(1_999), await pass(1), await pass(3_999), await pass(1)]).toEqual([
    1, 1, 2, 2, 3,
  ]);
  isFailing = false;
  expect([await pass(5_000), await pass(1_000)]).toEqual([4, 5]);
});
