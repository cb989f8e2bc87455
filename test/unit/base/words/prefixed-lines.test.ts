import { expect, test } from "bun:test";
import fc from "fast-check";
import { createPrefixedLines } from "../../../../src/base/words/prefixed-lines.ts";

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test("a text stands in front of each line, and what is not whole waits", () => {
  const lines = createPrefixedLines("[a] ", 100);
  expect(text(lines.push(Buffer.from("one\ntw")))).toBe("[a] one\n");
  expect(text(lines.push(Buffer.from("o\n\nthree")))).toBe("[a] two\n[a] \n");
  expect(text(lines.rest())).toBe("[a] three\n");
  expect(text(lines.rest())).toBe("");
});

test("a line that has no end goes out in pieces", () => {
  const lines = createPrefixedLines("> ", 4);
  expect(text(lines.push(Buffer.from("abcdef")))).toBe("> abcdef\n");
  expect(text(lines.push(Buffer.from("g\n")))).toBe("> g\n");
});

test("however the bytes come in, the lines are the same", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 8 }).map((part) => part.replaceAll("x", "\n"))), (parts) => {
      const lines = createPrefixedLines("> ", 1e6);
      const out = [...parts.map((part) => text(lines.push(Buffer.from(part)))), text(lines.rest())].join("");
      const whole = parts.join("");
      const wanted = whole.split("\n").map((line) => `> ${line}\n`);
      if (whole === "" || whole.endsWith("\n")) wanted.pop();
      expect(out).toBe(wanted.join(""));
    }),
  );
});
