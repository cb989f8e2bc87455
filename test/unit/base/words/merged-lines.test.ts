import { expect, test } from "bun:test";
import { type LineSource, mergedLines } from "../../../../src/base/words/merged-lines.ts";
import { createLog } from "../../../../src/base/words/log.ts";
import { waitFor } from "../../../support/wait.ts";

const log = createLog(() => undefined, "error");
const quiet = { sources: async () => [], subscribe: () => () => undefined };

function reading(follow: boolean) {
  const left = new AbortController();
  return { left, reading: { follow, tail: 5, since: undefined, timestamps: false, signal: left.signal } };
}

const source = (name: string, startedAt?: number): LineSource => ({ name, startedAt });

test("a slow reader holds up the sources, so that memory does not grow", async () => {
  const block = Buffer.from(`${"x".repeat(16 * 1024 - 1)}\n`);
  const blocks = 1_000;
  let given = 0;
  const merged = mergedLines({
    sources: [source("a"), source("b")],
    ...{ reading: reading(false).reading, later: quiet, log },
    open: async () =>
      (async function* () {
        for (let at = 0; at < blocks; at++) {
          given += 1;
          yield block;
        }
      })(),
  });
  const reader = merged.getReader();
  await reader.read();
  let before = -1;
  await waitFor("the sources to stand still", () => {
    const still = before === given;
    before = given;
    return still;
  });
  expect(given).toBeLessThan(blocks / 4);
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length;
  expect(bytes).toBeGreaterThan((2 * blocks - 10) * block.length);
});

test("sources end with the signal, also where nobody has read a byte of them", async () => {
  const { left, reading: asked } = reading(true);
  let [begun, ended] = [0, 0];
  mergedLines({
    sources: [source("a"), source("b")],
    ...{ reading: asked, later: quiet, log },
    open: async () =>
      (async function* () {
        begun += 1;
        try {
          for (;;) yield Buffer.from("line\n");
        } finally {
          ended += 1;
        }
      })(),
  });
  await waitFor("both to be read", () => begun === 2);
  left.abort();
  await waitFor("both to end", () => ended === 2);
});

test("another run of the same container is read from its beginning, once, and only when the one before was read to its end", async () => {
  const { left, reading: asked } = reading(true);
  const opened: unknown[] = [];
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let listed = [source("a", 100)];
  let ring: () => void = () => undefined;
  const merged = mergedLines({
    sources: listed,
    ...{ reading: asked, log },
    later: {
      sources: async () => listed,
      subscribe: (listener) => {
        ring = listener;
        return () => undefined;
      },
    },
    open: async (_name, { tail, since }) => {
      const run = opened.push([tail, since]);
      return (async function* () {
        yield Buffer.from(`run ${run}\n`);
        await ends[run - 1]?.promise;
      })();
    },
  });
  const parts = merged[Symbol.asyncIterator]();
  const next = async () => Buffer.from((await parts.next()).value ?? []).toString();
  expect(await next()).toBe("[a] run 1\n");
  listed = [source("a", 200)];
  ring();
  await new Promise((resolve) => setImmediate(resolve));
  expect(opened).toEqual([[5, undefined]]);
  ends[0]?.resolve();
  expect(await next()).toBe("[a] run 2\n");
  expect(opened[1]).toEqual([undefined, 200]);
  // It ends, and is still listed: not a third time.
  ends[1]?.resolve();
  ring();
  listed = [source("a", 200), source("b", 300)];
  ring();
  expect(await next()).toBe("[b] run 3\n");
  expect(opened).toHaveLength(3);
  left.abort();
  ends[2]?.resolve();
  expect((await parts.next()).done).toBe(true);
});

test("a source that breaks says so in a line of its own, and the others go on", async () => {
  const merged = mergedLines({
    sources: [source("bad"), source("good")],
    ...{ reading: reading(false).reading, later: quiet, log },
    open: async (name) => {
      if (name === "bad") throw new Error("no such log");
      return (async function* () {
        yield Buffer.from("fine");
      })();
    },
  });
  const text = await new Response(merged).text();
  expect(text.split("\n").toSorted()).toEqual(["", "[bad] [stream error] no such log", "[good] fine"]);
});
