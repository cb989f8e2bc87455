import { expect, test } from "bun:test";
import fc from "fast-check";
import { JsonError, parseJson } from "../../src/base/words/json.ts";

test("every JSON value survives, however it is spaced", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1, "\t"), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      expect(parseJson(text, { depthMax: 16 })).toEqual(JSON.parse(text));
    }),
  );
});

test("a text is refused exactly when the platform's parser refuses it, and the place lies inside it", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"k"',
    '"\\n"',
    '"',
    "1",
    "-",
    "0.5",
    "e3",
    "true",
    "null",
    " ",
    "\n",
    "\\",
    "x",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (words) => {
      const text = words.join("");
      const fault = faultOf(text);
      expect(fault === undefined || isOurOwnRule(fault)).toBe(platformAccepts(text));
      if (fault === undefined) return;
      expect(fault.offset).toBeLessThanOrEqual(text.length);
      const line = text.split("\n")[fault.line - 1] ?? "";
      expect(fault.column).toBeLessThanOrEqual(line.length + 1);
    }),
    { numRuns: 3_000 },
  );
});

function faultOf(text: string): JsonError | undefined {
  try {
    parseJson(text, { depthMax: 64 });
    return undefined;
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
}

function isOurOwnRule(fault: JsonError): boolean {
  return fault.message.endsWith("is given twice");
}

function platformAccepts(text: string): boolean {
  // A text refused for a key given twice may still be broken further on, where our scan no longer looks.
  try {
    JSON.parse(text);
    return true;
  } catch {
    return faultOf(text) !== undefined && isOurOwnRule(faultOf(text) as JsonError);
  }
}
