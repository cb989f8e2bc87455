import { expect, test } from "bun:test";
import { gatherLines } from "../../../../src/base/words/gather-lines.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("the lines of one turn are written with one call at its end, in order", async () => {
  const written: string[] = [];
  const lines = gatherLines((text) => written.push(text));
  lines.add("a\n");
  lines.add("b\n");
  expect(written).toEqual([]);
  await turn();
  lines.add("c\n");
  await turn();
  expect(written).toEqual(["a\nb\n", "c\n"]);
});

test("a flush writes at once, and nothing is written twice", async () => {
  const written: string[] = [];
  const lines = gatherLines((text) => written.push(text));
  lines.add("a\n");
  lines.flush();
  expect(written).toEqual(["a\n"]);
  lines.flush();
  await turn();
  expect(written).toEqual(["a\n"]);
});
