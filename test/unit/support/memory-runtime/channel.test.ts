import { expect, test } from "bun:test";
import { createChannel } from "../../../support/memory-runtime/channel.ts";

test("what is pushed comes out in order, and an end comes after it", async () => {
  const channel = createChannel<number>(10);
  expect(await channel.push(1)).toBe(true);
  expect(await channel.push(2)).toBe(true);
  channel.end();
  expect(await channel.push(3)).toBe(false);
  expect(await Array.fromAsync(channel.items)).toEqual([1, 2]);
});

test("a writer waits for the reader", async () => {
  const channel = createChannel<number>(2);
  let pushed = 0;
  const writer = (async () => {
    for (let item = 0; item < 10; item++) {
      await channel.push(item);
      pushed += 1;
    }
    channel.end();
  })();
  await Bun.sleep(1);
  expect(pushed).toBe(1);
  expect(await Array.fromAsync(channel.items)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await writer;
});

test("an end lets a writer go that waits, and a reader", async () => {
  const full = createChannel<number>(1);
  const stuck = full.push(1);
  full.end();
  expect(await stuck).toBe(true);
  const empty = createChannel<number>(1);
  const reading = Array.fromAsync(empty.items);
  empty.end();
  expect(await reading).toEqual([]);
});
