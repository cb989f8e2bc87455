import { expect, test } from "bun:test";
import { createBusClient } from "../../../../../src/observability/service/bus/bus.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (part: Uint8Array | undefined) => part && new TextDecoder().decode(part);

test("what waits comes as one", async () => {
  const client = createBusClient(100, () => []);
  client.offer(bytes("a"));
  client.offer(bytes("b"));
  expect(client.idle).toBe(false);
  expect(text(await client.next())).toBe("ab");
  expect(client.idle).toBe(true);
});

test("who waits gets the next bytes, and nothing after the end", async () => {
  const client = createBusClient(100, () => []);
  const waiting = client.next();
  client.offer(bytes("a"));
  expect(text(await waiting)).toBe("a");
  const last = client.next();
  client.close();
  expect(await last).toBeUndefined();
  client.offer(bytes("b"));
  expect(await client.next()).toBeUndefined();
});

test("a slow client gets the present state in place of what it missed, once", async () => {
  let asked = 0;
  const client = createBusClient(10, () => {
    asked += 1;
    return [bytes("state")];
  });
  for (let part = 0; part < 1_000; part += 1) client.offer(bytes("0123456789"));
  expect(asked).toBe(0);
  expect(text(await client.next())).toBe("state");
  client.offer(bytes("next"));
  expect(text(await client.next())).toBe("next");
  expect(asked).toBe(1);
});

test("one event above the limit is passed on", async () => {
  const client = createBusClient(2, () => [bytes("state")]);
  client.offer(bytes("long"));
  expect(text(await client.next())).toBe("long");
});
