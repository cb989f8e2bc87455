import { expect, test } from "bun:test";
import { withPings } from "../../../../src/base/words/pings.ts";

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();
const ping = Buffer.from("ping");

test("a ping stands in for what does not come, and nothing of the source is lost", async () => {
  const gate = Promise.withResolvers<void>();
  const source = (async function* () {
    yield Buffer.from("one");
    await gate.promise;
    yield Buffer.from("two");
  })();
  const parts = withPings(source, { ping, everyMs: 1 });
  const next = async () => text((await parts.next()).value ?? undefined);
  expect([await next(), await next(), await next()]).toEqual(["one", "ping", "ping"]);
  gate.resolve();
  let last = "ping";
  while (last === "ping") last = await next();
  expect(last).toBe("two");
  expect((await parts.next()).done).toBe(true);
});

test("an error of the source comes through, and a consumer that leaves ends the source", async () => {
  const broken = (async function* () {
    yield Buffer.from("one");
    throw new Error("gone");
  })();
  await expect(Array.fromAsync(withPings(broken, { ping, everyMs: 60_000 }))).rejects.toThrow("gone");
  let isOver = false;
  const endless = (async function* () {
    try {
      for (;;) yield Buffer.from("more");
    } finally {
      isOver = true;
    }
  })();
  for await (const _part of withPings(endless, { ping, everyMs: 60_000 })) break;
  expect(isOver).toBe(true);
});
