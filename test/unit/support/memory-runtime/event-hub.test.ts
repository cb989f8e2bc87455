import { expect, test } from "bun:test";
import { createEventHub } from "../../../support/memory-runtime/event-hub.ts";

const event = (id: string) => ({
  action: "start",
  node: "local",
  id,
  name: id,
  identity: undefined,
  exitCode: undefined,
  at: 1,
});

test("a slow follower loses nothing and keeps the order; a late one gets what comes later", async () => {
  const hub = createEventHub();
  const abort = new AbortController();
  const early = hub.follow(abort.signal, () => undefined);
  const first = early.next();
  for (const id of ["a", "b", "c"]) hub.publish(event(id));
  const late = hub.follow(abort.signal, () => undefined);
  const lateFirst = late.next();
  hub.publish(event("d"));
  const seen = [await first, await early.next(), await early.next(), await early.next()];
  expect(seen.map(({ value }) => value?.id)).toEqual(["a", "b", "c", "d"]);
  expect((await lateFirst).value?.id).toBe("d");
  abort.abort();
  expect((await early.next()).done).toBe(true);
});

test("a break comes after what is on its way", async () => {
  const hub = createEventHub();
  const stream = hub.follow(new AbortController().signal, () => undefined);
  const first = stream.next();
  hub.publish(event("a"));
  hub.breakAll(new Error("gone"));
  expect((await first).value?.id).toBe("a");
  await expect(stream.next()).rejects.toThrow("gone");
});
