import { describe, expect, test } from "bun:test";
import { createLimit, createRounds } from "../../../../src/base/words/limit.ts";

/** Works that end when told, and how many run at once. */
function gatedWorks() {
  const ends: (() => void)[] = [];
  const begun: number[] = [];
  const work = (n: number) => () => {
    begun.push(n);
    return new Promise<number>((resolve) => ends.push(() => resolve(n)));
  };
  return { work, ends, begun };
}

const turns = () => new Promise((resolve) => setImmediate(resolve));

describe("a limit", () => {
  test("lets so many in at a time, in the order they came", async () => {
    const limit = createLimit(2);
    const { work, ends, begun } = gatedWorks();
    const results = Promise.all([1, 2, 3, 4].map((n) => limit(work(n))));
    await turns();
    expect(begun).toEqual([1, 2]);
    ends[1]?.();
    await turns();
    expect(begun).toEqual([1, 2, 3]);
    ends[0]?.();
    ends[2]?.();
    await turns();
    ends[3]?.();
    expect(await results).toEqual([1, 2, 3, 4]);
  });

  test("gives the place back when a work fails", async () => {
    const limit = createLimit(1);
    const failing = limit(() => Promise.reject(new Error("no")));
    const after = limit(async () => "next");
    await expect(failing).rejects.toThrow("no");
    expect(await after).toBe("next");
  });

  test("gives the place back when a work throws at once", async () => {
    const limit = createLimit(1);
    const thrown = limit(() => {
      throw new Error("at once");
    });
    await expect(thrown).rejects.toThrow("at once");
    expect(await limit(async () => 1)).toBe(1);
  });

  test("hands a place on without letting a newcomer past", async () => {
    const limit = createLimit(1);
    const { work, ends, begun } = gatedWorks();
    void limit(work(1));
    void limit(work(2));
    await turns();
    ends[0]?.();
    void limit(work(3));
    await turns();
    expect(begun).toEqual([1, 2]);
  });
});

describe("rounds", () => {
  test("callers who come while one works share the next, and what works on another key goes on beside it", async () => {
    const { work, ends, begun } = gatedWorks();
    const round = createRounds((key) => work(Number(key))());
    const first = round("1");
    await turns();
    const others = [round("1"), round("1"), round("2")];
    await turns();
    expect(begun).toEqual([1, 2]);
    ends[0]?.();
    ends[1]?.();
    await turns();
    expect(begun).toEqual([1, 2, 1]);
    const later = round("1");
    ends[2]?.();
    expect(await Promise.all([first, ...others])).toEqual([1, 1, 1, 2]);
    await turns();
    ends[3]?.();
    expect(await later).toBe(1);
  });

  test("one that fails fails for those who share it alone", async () => {
    let count = 0;
    const round = createRounds(async () => {
      count += 1;
      if (count === 1) throw new Error("no");
      return count;
    });
    const first = round("a");
    const second = turns().then(() => round("a"));
    await expect(first).rejects.toThrow("no");
    expect(await second).toBe(2);
  });
});
