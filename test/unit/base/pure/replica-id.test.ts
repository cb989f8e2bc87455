import { expect, test } from "bun:test";
import { replicaId } from "../../../../src/base/pure/replica-id.ts";

test("five characters, a letter first, for any bytes", () => {
  for (let byte = 0; byte < 256; byte++) {
    expect(replicaId(new Uint8Array(5).fill(byte))).toMatch(/^[a-z][a-z2-7]{4}$/);
  }
});

test("the same bytes give the same id, further bytes do not matter", () => {
  expect(replicaId(new Uint8Array([0, 1, 2, 30, 31]))).toBe("abc67");
  expect(replicaId(new Uint8Array([0, 1, 2, 30, 31, 99]))).toBe("abc67");
});

test("too few bytes are a bug of the caller", () => {
  expect(() => replicaId(new Uint8Array(4))).toThrow(RangeError);
});
