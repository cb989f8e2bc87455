import { expect, test } from "bun:test";
import { secret } from "../../../../src/base/words/secret.ts";
import { createSeal } from "../../../../src/base/sqlite/seal.ts";

const seal = createSeal(secret<Uint8Array>(new Uint8Array(32).fill(1)));
const place = "config\0shop\0web\0TOKEN";

test("what was sealed opens at its place", () => {
  for (const value of ["", "hunter2", "två\nrader", "🔑".repeat(1_000)]) {
    expect(seal.open(seal.seal(value, place), place)).toBe(value);
  }
});

test("the same value never looks the same, and never shows", () => {
  const [a, b] = [seal.seal("hunter2", place), seal.seal("hunter2", place)];
  expect(a).not.toEqual(b);
  expect(Buffer.from(a).includes("hunter2")).toBe(false);
});

test("a value that was moved to another row does not open", () => {
  const sealed = seal.seal("hunter2", place);
  expect(() => seal.open(sealed, "config\0shop\0web\0OTHER")).toThrow(
    'sealed value "config/shop/web/OTHER" cannot be opened (altered or moved)',
  );
});

test("every altered byte is noticed", () => {
  const sealed = seal.seal("hunter2", place);
  for (let index = 0; index < sealed.length; index++) {
    const altered = Uint8Array.from(sealed);
    altered[index] = (altered[index] ?? 0) ^ 1;
    expect(() => seal.open(altered, place)).toThrow("cannot be opened");
  }
  expect(() => seal.open(sealed.subarray(0, 20), place)).toThrow("unknown form");
});

test("another key is told from an altered value", () => {
  const other = createSeal(secret<Uint8Array>(new Uint8Array(32).fill(2)));
  expect(() => other.open(seal.seal("hunter2", place), place)).toThrow("sealed with another key");
});

test("a key of another length is refused", () => {
  expect(() => createSeal(secret<Uint8Array>(new Uint8Array(16)))).toThrow("must have 32 bytes, got 16");
});
