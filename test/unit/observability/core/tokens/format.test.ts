import { expect, test } from "bun:test";
import fc from "fast-check";
import { bearerOf, isToken, isTokenId, tokenId, tokenOf } from "../../../../../src/observability/core/tokens/format.ts";

test("21 bytes are a token, unless its id would begin with a sign", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 21, maxLength: 21 }), (bytes) => {
      const token = tokenOf(bytes);
      if (token === undefined) return expect((bytes[0] ?? 0) >> 2).toBeGreaterThan(61);
      expect(token).toMatch(/^pat_[A-Za-z0-9][A-Za-z0-9_-]{27}$/);
      expect(isToken(token)).toBe(true);
      expect(isTokenId(tokenId(token))).toBe(true);
      expect(bearerOf(`Bearer ${token}`)).toBe(token);
    }),
  );
});

test("other counts of bytes are a mistake of the caller", () => {
  expect(() => tokenOf(new Uint8Array(20))).toThrow("needs 21 random bytes, got 20");
});

const token = `pat_${"a".repeat(28)}`;

test.each([`bearer ${token}`, `BEARER  ${token} `])("%j holds a token", (header) => {
  expect(bearerOf(header)).toBe(token);
});

test.each([null, "", token, `Bearer${token}`, `Basic ${token}`, `Bearer ${token}x`, `Bearer ${token} x`, "Bearer "])(
  "%j holds none",
  (header) => {
    expect(bearerOf(header)).toBeUndefined();
  },
);
