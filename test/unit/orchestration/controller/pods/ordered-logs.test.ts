import { expect, test } from "bun:test";
import { orderedLogs } from "../../../../../src/orchestration/controller/pods/ordered-logs.ts";

const line = (second: number, text: string) => `2026-01-31T13:05:${String(second).padStart(2, "0")}.5Z ${text}\n`;

function source(name: string, parts: string[], error?: Error) {
  const state = { name, read: 0, isClosed: false };
  const open = async () =>
    (async function* () {
      try {
        for (const part of parts) {
          state.read += 1;
          yield Buffer.from(part);
        }
        if (error !== undefined) throw error;
      } finally {
        state.isClosed = true;
      }
    })();
  return Object.assign(state, { open });
}

async function text(sources: ReturnType<typeof source>[], broken: string[] = []): Promise<string> {
  const options = { timestamps: false, onBroken: (name: string) => void broken.push(name) };
  return Buffer.concat(await Array.fromAsync(orderedLogs(sources, options))).toString();
}

test("lines come in the order of their times, whatever they come from", async () => {
  const web = source("web", [line(1, "a") + line(4, "d"), line(5, "e")]);
  const db = source("db", [line(2, "b"), line(3, "c") + line(5, "f").trimEnd()]);
  expect(await text([web, db])).toBe("[web] a\n[db] b\n[db] c\n[web] d\n[web] e\n[db] f\n");
});

test("one that breaks says so behind what it had, and is told", async () => {
  const broken: string[] = [];
  const bad = source("bad", [line(1, "a")], new Error("gone"));
  expect(await text([bad, source("good", [line(2, "b")])], broken)).toBe(
    "[bad] a\n[bad] [stream error] gone\n[good] b\n",
  );
  expect(broken).toEqual(["bad"]);
});

test("a reader that waits makes the logs wait, and one that leaves closes them", async () => {
  const part = line(1, "x".repeat(70_000));
  const sources = ["a", "b"].map((name) =>
    source(
      name,
      Array.from({ length: 50 }, () => part),
    ),
  );
  const merged = orderedLogs(sources, { timestamps: false, onBroken: () => undefined });
  await merged.next();
  expect(sources.map(({ read }) => read).every((read) => read < 5)).toBe(true);
  await merged.return(undefined);
  expect(sources.every(({ isClosed }) => isClosed)).toBe(true);
});
