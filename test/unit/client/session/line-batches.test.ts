import { expect, test } from "bun:test";
import { batchedLines, type LineBatch } from "../../../../src/client/session/line-batches.ts";

async function batches(chunks: string[], bytesMax: number): Promise<LineBatch[]> {
  async function* source() {
    for (const chunk of chunks) yield new TextEncoder().encode(chunk);
  }
  return Array.fromAsync(batchedLines(source(), bytesMax));
}

test("whole lines come in pieces below the limit, and the last one says so", async () => {
  const text = Array.from({ length: 50 }, (_, n) => `line ${n}\n`).join("");
  for (const size of [1, 7, 64, 10_000]) {
    const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    const found = await batches(chunks, 64);
    expect(found.map((batch) => batch.text).join("")).toBe(text);
    expect(found.every((batch) => batch.text.endsWith("\n") && batch.text.length <= 64)).toBe(true);
    expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(50);
    expect(found.map(({ last }) => last)).toEqual([...Array(found.length - 1).fill(false), true]);
  }
});

test("an end without a line end, nothing at all, and a line that is too long", async () => {
  expect(await batches(["a\nb"], 100)).toEqual([{ text: "a\nb", count: 2, last: true }]);
  expect(await batches([], 100)).toEqual([{ text: "", count: 0, last: true }]);
  expect(await batches(["a\n"], 2)).toEqual([{ text: "a\n", count: 1, last: true }]);
  const long = await batches(["x".repeat(25)], 10);
  expect(long.map(({ text }) => text.length)).toEqual([10, 10, 5]);
  expect(long.at(-1)?.last).toBe(true);
});

test("letters of several bytes are never cut apart", async () => {
  const text = "\u00e9\u{1f600}\u00e9\n".repeat(40);
  const found = await batches([text], 23);
  expect(found.map((batch) => batch.text).join("")).toBe(text);
});
