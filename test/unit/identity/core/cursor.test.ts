import { expect, test } from "bun:test";
import { positionText, readPosition } from "../../../../src/identity/core/cursor.ts";

test("positions survive, in texts of one length", () => {
  for (const position of [[0], [1, 2], [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]]) {
    const text = positionText(position);
    expect(text).toHaveLength(33);
    expect(readPosition(text, position.length)).toEqual(position);
  }
});

test("anything else is none", () => {
  for (const text of ["", "x", "-1", "1.2.3", "1.", "01", "1e3", "9007199254740993"]) {
    expect([text, readPosition(text.padStart(33), 1)]).toEqual([text, undefined]);
  }
  expect(readPosition(positionText([1]), 2)).toBeUndefined();
  expect(readPosition("1", 1)).toBeUndefined();
});
