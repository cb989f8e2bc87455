import { expect, test } from "bun:test";
import { apiKey, opaqueId, publishableKey, secretKey, shownPrefix } from "../../../../src/identity/core/keys.ts";

const filled = (byte: number, count: number) => new Uint8Array(count).fill(byte);

test("keys say what they are for and hold all their random bits", () => {
  expect(secretKey("production", filled(0, 32))).toBe(`sk_live_${"0".repeat(43)}`);
  expect(secretKey("development", filled(255, 32))).toMatch(/^sk_test_[0-9A-Za-z]{43}$/);
  expect(apiKey("production", filled(7, 32))).toMatch(/^ak_live_[0-9A-Za-z]{43}$/);
  expect(publishableKey("production", filled(9, 24))).toMatch(/^pk_live_[0-9A-Za-z]{24}$/);
  expect(opaqueId("app", filled(31, 20))).toBe(`app_${"7".repeat(20)}`);
});

test("one changed bit anywhere is another secret key", () => {
  const seen = new Set<string>();
  for (let bit = 0; bit < 256; bit++) {
    const bytes = filled(0, 32);
    bytes[bit >> 3] = 1 << (bit & 7);
    seen.add(secretKey("production", bytes));
  }
  expect(seen.size).toBe(256);
});

test("too few random bytes are refused, never padded", () => {
  expect(() => secretKey("production", filled(1, 31))).toThrow("needs 32 random bytes");
  expect(() => opaqueId("app", filled(1, 19))).toThrow("needs 20 random bytes");
});

test("what is shown of a key leaves out most of it", () => {
  expect(shownPrefix("sk_live_abcdefghijkl")).toBe("sk_live_abcd");
});
