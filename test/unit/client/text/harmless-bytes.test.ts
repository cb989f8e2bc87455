import { expect, test } from "bun:test";
import fc from "fast-check";
import { createHarmlessBytes, harmlessText } from "../../../../src/client/text/harmless-bytes.ts";

const cases: [what: string, text: string, shown: string][] = [
  ["colours", "\x1b[1;32mready\x1b[0m", "ready"],
  ["a title", "\x1b]0;owned\x07x", "\\u001b]0;owned\\u0007x"],
  ["a clipboard", "\x1b]52;c;aGk=\x1b\\", "\\u001b]52;c;aGk=\\u001b\\"],
  ["a cleared screen", "a\x1b[2Jb", "a\\u001b[2Jb"],
  ["controls of two bytes", "\u009b2J é ü", "\\u009b2J é ü"],
  ["a line written over another", "bad\rgood\r\nnext", "bad\ngood\r\nnext"],
  ["other scripts", "naïve 東京 🚀\t|\n", "naïve 東京 🚀\t|\n"],
  ["a sequence that is cut", "x\x1b[3", "x\\u001b[3"],
];

test.each(cases)("%s", (_, text, shown) => {
  expect(harmlessText(text)).toBe(shown);
});

test("a stream is shown the same however it is cut, and holds no control", () => {
  const part = fc.oneof(fc.constantFrom(...cases.map(([, text]) => text)), fc.string({ unit: "binary", maxLength: 8 }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), fc.integer({ min: 1, max: 7 }), (parts, size) => {
      const bytes = Buffer.from(parts.join(""));
      const door = createHarmlessBytes();
      const shown: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += size) shown.push(door.push(bytes.subarray(at, at + size)));
      const text = Buffer.concat([...shown, door.end()]).toString();
      expect(text).toBe(harmlessText(bytes.toString()));
      expect(text).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/);
    }),
  );
});
