import { expect, test } from "bun:test";
import { createLimit } from "../../../src/lib/limit.ts";

test("lets so many in at one time, the others in their order", async () => {
  const limit = createLimit(2);
  const inside: number[] = [];
  const leave = new Map<number, () => void>();
  const enter = async (n: number) => {
    leave.set(n, await limit.enter());
    inside.push(n);
  };
  const all = [1, 2, 3, 4].map(enter);
  await Promise.all(all.slice(0, 2));
  expect(inside).toEqual([1, 2]);
  leave.get(1)?.();
  await all[2];
  expect(inside).toEqual([1, 2, 3]);
  leave.get(3)?.();
  await all[3];
  expect(inside).toEqual([1, 2, 3, 4]);
});

test("leaving twice frees one place only", async () => {
  const limit = createLimit(1);
  const leave = await limit.enter();
  leave();
  leave();
  await limit.enter();
  let entered = false;
  void limit.enter().then(() => {
    entered = true;
  });
  await Bun.sleep(1);
  expect(entered).toBe(false);
});
