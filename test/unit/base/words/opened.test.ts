import { expect, test } from "bun:test";
import { createOpened } from "../../../../src/base/words/opened.ts";

test("what was opened is closed, the last first, also where one of them fails to close", async () => {
  const closed: string[] = [];
  const { step, close } = createOpened({});
  await step(
    "first",
    () => "a",
    (it) => closed.push(it),
  );
  await step(
    "second",
    async () => "b",
    () => Promise.reject(new Error("b stays")),
  );
  await step(
    "third",
    () => "c",
    async (it) => closed.push(it),
  );
  expect(close()).rejects.toThrow("b stays");
  await Bun.sleep(0);
  expect(closed).toEqual(["c", "a"]);
  // Nothing is closed twice.
  await close();
  expect(closed).toEqual(["c", "a"]);
});

test("a step that fails, and one that is failed from outside, is not closed", async () => {
  const closed: string[] = [];
  const { step, close } = createOpened({
    reached(name) {
      if (name === "third") throw new Error("not the third");
    },
  });
  const opens = (name: string, open: () => string) => step(name, open, (it) => closed.push(it));
  await opens("first", () => "a");
  const failing = opens("second", () => {
    throw new Error("no room");
  });
  expect(failing).rejects.toThrow("no room");
  expect(opens("third", () => "c")).rejects.toThrow("not the third");
  await close();
  expect(closed).toEqual(["a"]);
});

test("a signal ends a step that hangs; what it opens later is closed before what came before it", async () => {
  const closed: string[] = [];
  const ending = new AbortController();
  const hanging = Promise.withResolvers<string>();
  const { step, close } = createOpened({ signal: ending.signal });
  await step(
    "first",
    () => "a",
    (it) => closed.push(it),
  );
  const second = step(
    "second",
    () => hanging.promise,
    (it) => closed.push(it),
  );
  const third = () => step("third", () => closed.push("opened"));
  ending.abort("SIGTERM");
  expect(await second.catch((error: unknown) => error)).toBe("SIGTERM");
  expect(await third().catch((error: unknown) => error)).toBe("SIGTERM");
  const closing = close();
  hanging.resolve("b");
  await closing;
  expect(closed).toEqual(["b", "a"]);
});

test("a step that hangs for good holds up the end for a limited time", async () => {
  const closed: string[] = [];
  const ending = new AbortController();
  const slept: number[] = [];
  const clock = { sleep: async (ms: number) => void slept.push(ms) };
  const { step, close } = createOpened({ signal: ending.signal, clock });
  await step(
    "first",
    () => "a",
    (it) => closed.push(it),
  );
  const second = step("second", () => new Promise(() => undefined));
  ending.abort("SIGINT");
  expect(await second.catch((error: unknown) => error)).toBe("SIGINT");
  await close();
  expect([closed, slept]).toEqual([["a"], [1_000]]);
});
