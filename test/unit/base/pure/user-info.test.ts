import { expect, test } from "bun:test";
import fc from "fast-check";
import { userInfo } from "../../../../src/base/pure/user-info.ts";

test.each([
  ["smtp://a%40b.io:p%3Aw@h", "a@b.io", "p:w"],
  ["smtp://u:100%@h", "u", "100%"],
  ["https://u:50%25%zz@h", "u", "50%%zz"],
  ["https://%C3%A9:p+a%20b@h", "é", "p+a b"],
  ["https://h", "", ""],
])("%s", (address, user, password) => {
  expect(userInfo(new URL(address))).toEqual({ user, password });
});

test("what was escaped comes back as it was", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const escaped = encodeURIComponent(text.toWellFormed());
      expect(userInfo(new URL(`https://u:${escaped}@h`)).password).toBe(text.toWellFormed());
    }),
  );
});
