import { expect, test } from "bun:test";
import { decodeCursor, encodeCursor } from "../../../../src/core/identity/cursor.ts";

test("positions survive, and go into a URL as they are", () => {
  for (const position of [[0], [1, 2], [Number.MAX_SAFE_INTEGER, 0]]) {
    const text = encodeCursor(position);
    expect(text).toMatch(/^[\w-]+$/);
    expect(decodeCursor(text, position.length)).toEqual(position);
  }
});

test("anything else is none", () => {
  const written = (text: string) => Buffer.from(text).toString("base64url");
  for (const text of ["", "x", written("-1"), written("1.2.3"), written("1."), written("01"), written("1e3")]) {
    expect([text, decodeCursor(text, 1)]).toEqual([text, undefined]);
  }
  expect(decodeCursor(encodeCursor([1]), 2)).toBeUndefined();
  expect(decodeCursor(`${encodeCursor([1])}=`, 1)).toBeUndefined();
  expect(decodeCursor(written("9007199254740993"), 1)).toBeUndefined();
});
