import { afterEach, expect, test } from "bun:test";
import { type Duplex, duplexHandlers } from "../../../../src/base/words/duplex.ts";

const listeners: { stop(now: boolean): void }[] = [];
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.stop(true);
});

const highBytes = 64 * 1024;

/** Both ends of a new connection. */
async function pair(): Promise<[Duplex, Duplex]> {
  const [near, far] = [Promise.withResolvers<Duplex>(), Promise.withResolvers<Duplex>()];
  const common = { hostname: "127.0.0.1", allowHalfOpen: true, data: undefined };
  const listener = Bun.listen({ ...common, port: 0, socket: duplexHandlers(highBytes, far.resolve) });
  listeners.push(listener);
  await Bun.connect({ ...common, port: listener.port, socket: duplexHandlers(highBytes, near.resolve) });
  return [await near.promise, await far.promise];
}

async function textOf({ incoming }: Duplex): Promise<string> {
  let text = "";
  for await (const bytes of incoming) text += Buffer.from(bytes).toString();
  return text;
}

test("each side ends by itself, and both know that nothing is missing", async () => {
  const [near, far] = await pair();
  await near.write(Buffer.from("question"));
  near.finish();
  expect(await textOf(far)).toBe("question");
  expect(await far.write(Buffer.from("answer"))).toBe(true);
  far.finish();
  expect(await textOf(near)).toBe("answer");
  await Promise.all([near.closed, far.closed]);
  expect([near.broken, far.broken]).toEqual([false, false]);
});

test("one that is ended at once is broken on both sides, and takes nothing more", async () => {
  const [near, far] = await pair();
  far.terminate();
  expect(await textOf(near)).toBe("");
  expect([near.broken, far.broken]).toEqual([true, true]);
  expect(await near.write(Buffer.from("x"))).toBe(false);
});

test("also after this side has finished", async () => {
  const [near, far] = await pair();
  near.finish();
  expect(await textOf(far)).toBe("");
  far.terminate();
  await near.closed;
  expect(near.broken).toBe(true);
});

test("a reader that does not read holds the writer back", async () => {
  const [near, far] = await pair();
  const part = Buffer.alloc(1024 * 1024);
  let sent = 0;
  const writing = (async () => {
    for (; sent < 32 && (await near.write(part)); sent += 1);
    near.finish();
  })();
  // Turns of the event loop until nothing is taken any more.
  for (let before = -1; before !== sent || sent === 0;) {
    before = sent;
    await Bun.sleep(20);
  }
  expect(sent).toBeLessThan(32);
  let read = 0;
  for await (const bytes of far.incoming) read += bytes.length;
  await writing;
  expect(read).toBe(32 * part.length);
});
