import { expect, test } from "bun:test";
import { createBells } from "../../../support/memory-runtime/bells.ts";

const never = () => new AbortController().signal;
/** Which of the promises are done, once everything that can go on has gone on. */
const done = async (promises: Promise<unknown>[]) => {
  const seen = promises.map(() => false);
  promises.forEach((promise, index) => void promise.then(() => (seen[index] = true)));
  await Bun.sleep(1);
  return seen;
};

test("a ring wakes everyone who waits for that one, once", async () => {
  const bells = createBells();
  const waits = [bells.next("a", never()), bells.next("a", never()), bells.next("b", never())];
  bells.ring("a");
  const later = bells.next("a", never());
  expect(await done([...waits, later])).toEqual([true, true, false, false]);
});

test("a ring for all wakes all", async () => {
  const bells = createBells();
  const waits = [bells.next("a", never()), bells.next("b", never())];
  bells.ringAll();
  expect(await done(waits)).toEqual([true, true]);
});

test("an abort wakes only the one, before and while it waits", async () => {
  const bells = createBells();
  const stop = new AbortController();
  const waits = [bells.next("a", stop.signal), bells.next("a", never()), bells.next("a", AbortSignal.abort())];
  stop.abort();
  expect(await done(waits)).toEqual([true, false, true]);
  bells.ring("a");
  expect(await done(waits)).toEqual([true, true, true]);
});
