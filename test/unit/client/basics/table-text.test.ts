import { expect, test } from "bun:test";
import { listText, tableText, termsText, wrapText } from "../../../../src/client/basics/table-text.ts";

const head = ["NAME", "STATUS", "READY", "IMAGE", "AGE"];
const image = "registry.example.com/team/project/shop-web:2026-01-01-abcdef0";

test("a narrow screen keeps every column: the widest ones are cut", () => {
  const lines = tableText([head, ["shop/web", "failed", "0/1", image, "3d"]], { width: 60 }).split("\n");
  for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(60);
  expect(lines[0]).toEndWith("AGE");
  expect(lines[1]).toMatch(/^shop\/web {2}failed {2}0\/1 {4}registry.*… {2}3d$/);
});

test("a screen that is wide enough cuts nothing, and names are never cut for other columns", () => {
  expect(tableText([head, ["shop/web", "ready", "1/1", image, "3d"]], { width: 120 })).toContain(image);
  const name = "a-scope-of-forty-characters/and-a-long-name";
  expect(tableText([head, [name, "ready", "1/1", image, "3d"]], { width: 60 })).toContain(name);
});

test("the first row of a list is no header", () => {
  expect(
    listText(
      [
        ["a", "x".repeat(50)],
        ["b", "c"],
      ],
      { width: 30 },
    ),
  ).toBe(`a  ${"x".repeat(26)}…\nb  c`);
});

test("explanations go on below themselves", () => {
  const rows: [string, string][] = [["-f, --file PATH", "a manifest file, a folder of them, or - for stdin"]];
  expect(termsText(rows, 50)).toBe(
    "  -f, --file PATH  a manifest file, a folder of\n                   them, or - for stdin",
  );
  expect(termsText(rows)).toBe("  -f, --file PATH  a manifest file, a folder of them, or - for stdin");
  expect(termsText([["a very long example of a command line", "what it does"]], 50)).toBe(
    "  a very long example of a command line\n      what it does",
  );
});

test("a word that is longer than the screen stays whole", () => {
  expect(wrapText("see https://example.com/a/long/address now", 12)).toBe(
    "see\nhttps://example.com/a/long/address\nnow",
  );
});
