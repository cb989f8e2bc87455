import { expect, test } from "bun:test";
import { allowsOrigin } from "../../../../src/identity/core/origins.ts";

const uris = ["https://shop.test/callback?x=1", "http://127.0.0.1:3000/cb", "http://localhost:3000/cb", "not a url"];

test.each([
  ["https://shop.test", true],
  ["http://127.0.0.1:3000", true],
  ["http://127.0.0.1:9", true],
  ["http://localhost:3000", true],
  ["http://localhost:3001", false],
  ["https://127.0.0.1:3000", false],
  ["https://shop.test:8443", false],
  ["http://shop.test", false],
  ["https://a.shop.test", false],
  ["https://shop.test/", false],
  ["HTTPS://SHOP.TEST", false],
  ["null", false],
  ["", false],
  ["https://shop.test@evil.test", false],
])("%s: %p", (origin, allowed) => expect(allowsOrigin(uris, origin)).toBe(allowed));

test("schemes without an origin never match each other", () => {
  expect(allowsOrigin(["app:callback"], "null")).toBe(false);
  expect(allowsOrigin(["app:callback"], "app:callback")).toBe(false);
});
