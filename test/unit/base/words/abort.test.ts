import { expect, test } from "bun:test";
import { unlessAborted } from "../../../../src/base/words/abort.ts";

const never = new Promise<string>(() => {});

test("gives what the work gives", async () => {
  expect(await unlessAborted(Promise.resolve("done"), new AbortController().signal)).toBe("done");
});

test("fails as the work fails", async () => {
  const signal = new AbortController().signal;
  await expect(unlessAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
});

test("gives up at the abort, before or during the work", async () => {
  const controller = new AbortController();
  const waiting = unlessAborted(never, controller.signal);
  controller.abort();
  expect(await waiting).toBeUndefined();
  expect(await unlessAborted(never, controller.signal)).toBeUndefined();
});

test("a failure after the abort is nobody's", async () => {
  const work = Promise.withResolvers<string>();
  const controller = new AbortController();
  const waiting = unlessAborted(work.promise, controller.signal);
  controller.abort();
  expect(await waiting).toBeUndefined();
  work.reject(new Error("late"));
  await Bun.sleep(1);
});
