import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { hmac } from "../../../../src/identity/service/signing.ts";

test("RFC 4231, case 2", () => {
  const hex = Buffer.from(hmac("Jefe", "what do ya want for nothing?"), "base64url").toString("hex");
  expect(hex).toBe("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
});

test("is node:crypto's for every key and text", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 200 }), fc.string({ unit: "grapheme" }), (key, text) => {
      expect(hmac(key, text)).toBe(createHmac("sha256", key).update(text).digest("base64url"));
    }),
  );
});
