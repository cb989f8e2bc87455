import { expect, test } from "bun:test";
import fc from "fast-check";
import { createLinePrefix } from "../../../../src/client/basics/line-prefix.ts";

const marked = () => createLinePrefix((line) => Buffer.concat([Buffer.from("> "), line]));
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test("whole lines come out at once, the rest when it is finished", () => {
  const lines = marked();
  expect(text(lines.push(Buffer.from("a\nb\n\nc")))).toBe("> a\n> b\n> \n");
  expect(text(lines.push(Buffer.from("d")))).toBe("");
  expect(text(lines.push(Buffer.from("e\nf")))).toBe("> cde\n");
  expect(text(lines.end())).toBe("> f\n");
  expect(text(lines.end())).toBe("");
});

test("a line without end is handed on in parts instead of being kept", () => {
  const lines = marked();
  const part = Buffer.alloc(600 * 1024, "x");
  expect(lines.push(part)).toHaveLength(0);
  expect(lines.push(part)).toHaveLength(2 * part.length + 3);
  expect(lines.end()).toHaveLength(0);
});

test("what it keeps is its own: the chunk may be used again", () => {
  const lines = marked();
  const chunk = Buffer.from("abc");
  lines.push(chunk);
  chunk.fill("z");
  expect(text(lines.end())).toBe("> abc\n");
});

test("however it is cut, it is the prefixed lines", () => {
  const piece = fc.stringMatching(/^[a-c\n]{0,8}$/);
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const lines = marked();
      const whole = pieces.map((one) => text(lines.push(Buffer.from(one)))).join("") + text(lines.end());
      const all = pieces.join("");
      const wanted = all.replace(/\n$/, "").split("\n");
      expect(whole).toBe(all === "" ? "" : wanted.map((line) => `> ${line}\n`).join(""));
    }),
  );
});
