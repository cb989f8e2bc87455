import { expect, test } from "bun:test";
import fc from "fast-check";
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

test("another run of the same container is read once, from the last line that was told or a second before its start, and only when the one before was read to its end", async () => {
  const { left, reading: asked } = reading(true);
  const opened: unknown[] = [];
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let listed = [source("a", 10_000)];
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
  listed = [source("a", 20_000)];
  ring();
  await new Promise((resolve) => setImmediate(resolve));
  expect(opened).toEqual([[5, undefined]]);
  ends[0]?.resolve();
  expect(await next()).toBe("[a] run 2\n");
  expect(opened[1]).toEqual([undefined, 19_000]);
  // It ends, and is still listed: not a third time.
  ends[1]?.resolve();
  ring();
  listed = [source("a", 20_000), source("b", 30_000)];
  ring();
  expect(await next()).toBe("[b] run 3\n");
  expect(opened).toHaveLength(3);
  left.abort();
  ends[2]?.resolve();
  expect((await parts.next()).done).toBe(true);
});

interface Line {
  at: number;
  text: string;
}

/** Docker's times have nine digits. */
const stamped = ({ at, text }: Line) => `${new Date(at).toISOString().replace("Z", "000000Z")} ${text}\n`;

interface Runs {
  /** All lines, of all runs. */
  lines: Line[];
  runs: {
    startedAt: number;
    /** How many lines were written when this run ended. */
    end: number;
    /** How many of all lines the engine's stream brings that was opened in this run. */
    streamEnd: number;
  }[];
}

/** What is told of a container that begins one run after the other while it is followed. */
async function toldOf({ lines, runs }: Runs): Promise<string> {
  const { left, reading: asked } = reading(true);
  let [opened, ring]: [number, () => void] = [0, () => undefined];
  const at = (run: number) => runs[Math.min(run, runs.length - 1)];
  const merged = mergedLines({
    sources: [source("a", at(0)?.startedAt)],
    ...{ reading: { ...asked, tail: undefined }, log },
    later: {
      sources: async () => [source("a", at(opened)?.startedAt)],
      subscribe: (listener) => {
        ring = listener;
        return () => undefined;
      },
    },
    open: async (_name, { since = 0, timestamps }) => {
      expect(timestamps).toBe(true);
      const run = at(opened);
      return (async function* () {
        for (const line of lines.slice(0, run?.streamEnd)) if (line.at >= since) yield Buffer.from(stamped(line));
        opened += 1;
        if (opened >= runs.length) setImmediate(() => left.abort());
      })();
    },
  });
  const text = new Response(merged).text();
  for (let turn = 0; turn < runs.length; turn++) {
    ring();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return text;
}

const days = Date.parse("2026-01-31T00:00:00Z");

test("each line of each run is told once and in order: also where a stream broke off or went on into the next run, and where a run wrote before its start was noted; after the clock was set back some may come twice", async () => {
  const run = fc.record({
    lines: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 6 }),
    // Milliseconds from the first line to the moment that the engine notes as the start.
    late: fc.integer({ min: 0, max: 900 }),
    // Milliseconds of silence before it; a clock set back makes it negative.
    silence: fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: -90_000, max: -10_000 })),
    // Lines that the engine's stream brings of the next run, or does not bring of this one.
    goesOn: fc.integer({ min: -6, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 4 }), async (drawn) => {
      const lines: Line[] = [];
      const runs: Runs["runs"] = [];
      let now = days;
      for (const { lines: steps, late, silence } of drawn) {
        now += silence;
        const startedAt = now + late;
        for (const step of steps) {
          now += step;
          lines.push({ at: now, text: `line ${lines.length}` });
        }
        runs.push({ startedAt, end: lines.length, streamEnd: 0 });
        now = Math.max(now, startedAt) + 1;
      }
      const isSetBack = drawn.slice(1).some(({ silence }) => silence < 0);
      for (const [index, each] of runs.entries()) {
        const goesOn = Math.max(drawn[index]?.goesOn ?? 0, isSetBack ? 0 : -lines.length);
        each.streamEnd = Math.max(0, Math.min(each.end + goesOn, runs[index + 1]?.end ?? each.end));
      }
      const last = runs.at(-1);
      if (last !== undefined) last.streamEnd = last.end;
      const told = (await toldOf({ lines, runs })).split("\n").filter((line) => line !== "");
      const firsts = isSetBack ? [...new Set(told)] : told;
      expect(firsts).toEqual(lines.map(({ text }) => `[a] ${text}`));
    }),
    { numRuns: 300 },
  );
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
