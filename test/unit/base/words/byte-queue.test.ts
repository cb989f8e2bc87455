import { expect, test } from "bun:test";
import { createByteQueue } from "../../../../src/base/words/byte-queue.ts";

function make(highBytes = 10) {
  const events: string[] = [];
  const queue = createByteQueue({
    highBytes,
    pause: () => events.push("pause"),
    resume: () => events.push("resume"),
  });
  return { queue, events, items: queue[Symbol.asyncIterator]() };
}

const bytes = (length: number) => new Uint8Array(length);

test("chunks come out in order, before and after the consumer waits, then the end", async () => {
  const { queue, items } = make();
  queue.push(Buffer.from("a"));
  expect((await items.next()).value).toEqual(Buffer.from("a"));
  const next = items.next();
  queue.push(Buffer.from("b"));
  expect((await next).value).toEqual(Buffer.from("b"));
  const last = items.next();
  queue.end();
  expect((await last).done).toBe(true);
});

test("the source pauses above the limit and goes on once half of it is taken", async () => {
  const { queue, events, items } = make(10);
  queue.push(bytes(10));
  expect(events).toEqual([]);
  queue.push(bytes(1));
  queue.push(bytes(4));
  expect(events).toEqual(["pause"]);
  await items.next();
  expect(events).toEqual(["pause"]);
  // Asking for the next one says that the one before is done with.
  await items.next();
  expect(events).toEqual(["pause", "resume"]);
});

test("what is waiting comes out after the end; what comes later does not", async () => {
  const { queue, items } = make();
  queue.push(bytes(3));
  queue.end();
  queue.push(bytes(4));
  expect(queue.ended).toBe(true);
  expect((await items.next()).value).toHaveLength(3);
  expect((await items.next()).done).toBe(true);
});

test("a drop forgets everything, ends the consumer and lets the source go", async () => {
  const { queue, events, items } = make(10);
  queue.push(bytes(5));
  queue.push(bytes(20));
  await items.next();
  const next = items.next();
  expect((await next).value).toHaveLength(20);
  queue.push(bytes(9));
  queue.drop();
  queue.push(bytes(100));
  expect(events).toEqual(["pause", "resume"]);
  expect((await items.next()).done).toBe(true);
});

test("empty chunks are nothing", async () => {
  const { queue, items } = make();
  queue.push(bytes(0));
  queue.end();
  expect((await items.next()).done).toBe(true);
});
