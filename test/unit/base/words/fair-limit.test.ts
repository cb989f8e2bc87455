import { expect, test } from "bun:test";
import { createFairLimit, type FairLimit, type Lane } from "../../../../src/base/words/fair-limit.ts";

const lane = (group: string, member = "a"): Lane => ({ group, member });

/** Works that end when told to, and the order in which they began. */
function bench(waitingMax: number) {
  const began: string[] = [];
  const refused: string[] = [];
  const ends: (() => void)[] = [];
  const limit: FairLimit = createFairLimit({ running: 1, waitingMax, refusal: () => new Error("full") });
  const ask = (name: string, where: Lane) => {
    void limit(where, () => {
      began.push(name);
      return new Promise<void>((end) => ends.push(end));
    }).catch(() => refused.push(name));
  };
  const settle = async () => {
    for (let tick = 0; tick < 8; tick++) await Promise.resolve();
  };
  const finish = async (count: number) => {
    for (let at = 0; at < count; at++) {
      ends.shift()?.();
      await settle();
    }
    await settle();
  };
  return { began, refused, ask, finish };
}

test("groups take turns, however many works one of them has", async () => {
  const { began, ask, finish } = bench(100);
  for (let n = 0; n < 6; n++) ask(`flood${n}`, lane("flood", `client${n}`));
  ask("shop0", lane("shop"));
  ask("shop1", lane("shop"));
  await finish(8);
  expect(began.slice(0, 5)).toEqual(["flood0", "flood1", "shop0", "flood2", "shop1"]);
  expect(began).toHaveLength(8);
});

test("members of a group take turns too", async () => {
  const { began, ask, finish } = bench(100);
  for (let n = 0; n < 5; n++) ask(`flood${n}`, lane("shop", "stranger"));
  ask("ana", lane("shop", "ana"));
  await finish(3);
  expect(began).toEqual(["flood0", "flood1", "ana"]);
});

test("who fills the queue is refused, and makes room for others", async () => {
  const { began, refused, ask, finish } = bench(3);
  for (let n = 0; n < 6; n++) ask(`flood${n}`, lane("flood"));
  await finish(0);
  expect(refused).toEqual(["flood4", "flood5"]);
  ask("shop", lane("shop"));
  ask("other", lane("flood", "other"));
  await Promise.resolve();
  await finish(1);
  expect(refused).toEqual(["flood4", "flood5", "flood3", "flood2"]);
  await finish(4);
  expect(new Set(began)).toEqual(new Set(["flood0", "flood1", "shop", "other"]));
});

test("among equals the one that comes last is refused", async () => {
  const { refused, ask, finish } = bench(2);
  for (const name of ["a", "b", "c", "d"]) ask(name, lane(name));
  await finish(0);
  await Promise.resolve();
  expect(refused).toEqual(["d"]);
});

test("a work that fails leaves its place", async () => {
  const limit = createFairLimit({ running: 1, waitingMax: 1, refusal: () => new Error("full") });
  const failed = limit(lane("a"), () => Promise.reject(new Error("broken")));
  const second = limit(lane("a"), () => Promise.resolve("done"));
  expect(failed).rejects.toThrow("broken");
  expect(await second).toBe("done");
});
