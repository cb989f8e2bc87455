import { expect, test } from "bun:test";
import fc from "fast-check";
import { originOf, returnPath, webUiOrigin } from "../../../../../src/observability/core/people/places.ts";

test.each([
  [null, "/"],
  ["", "/"],
  ["/", "/"],
  ["/apps/shop/web?tab=logs", "/apps/shop/web?tab=logs"],
  ["/logs?q=a%2Fb", "/logs?q=a%2Fb"],
  ["/apps#x", "/apps"],
  ["apps", "/"],
  ["https://evil.example/", "/"],
  ["//evil.example/", "/"],
  ["/\\evil.example/", "/"],
  ["/a\\b", "/"],
  ["/\t/evil.example/", "/"],
  ["/\n/evil.example/", "/"],
  ["javascript:alert(1)", "/"],
  ["/../..//evil.example", "/"],
  ["/.//evil.example", "/"],
  ["/%2f/evil.example", "/%2f/evil.example"],
  ["/ui/api/signed-in?state=x", "/"],
  ["/./ui/api/sign-in", "/"],
  ["/api/pat/v1/whoami", "/"],
  [`/${"a".repeat(3_000)}`, "/"],
])("after the sign-in, %j leads to %j", (asked, path) => expect(returnPath(asked)).toBe(path));

test("whatever was asked for, a browser stays at this host", () => {
  const part = fc.constantFrom(
    "/",
    "//",
    "\\",
    "..",
    ".",
    "@",
    ":",
    "http:",
    "evil.example",
    "a",
    "?",
    "#",
    "\t",
    "%2f",
    "%5c",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const to = returnPath(parts.join(""));
      expect(to).toStartWith("/");
      expect(new URL(to, "https://berth.example.com").origin).toBe("https://berth.example.com");
    }),
  );
});

test.each([
  ["berth.example.com", true, "https://berth.example.com"],
  ["127.0.0.1:8687", false, "http://127.0.0.1:8687"],
  ["[::1]:8687", false, "http://[::1]:8687"],
  ["a b", true, undefined],
  ["user@host", true, undefined],
  ["host/path", true, undefined],
  ["", true, undefined],
  [null, true, undefined],
])("Host %j with tls %j is %j", (host, tls, origin) => expect(originOf(host, tls)).toBe(origin));

test.each([
  ["https://berth.example.com", "https://berth.example.com"],
  ["https://berth.example.com:8687/", "https://berth.example.com:8687"],
  ["http://localhost:8687", "http://localhost:8687"],
  ["http://berth.example.com", undefined],
  ["https://berth.example.com/ui", undefined],
  ["https://a:b@berth.example.com", undefined],
  ["berth.example.com", undefined],
])("the web UI at %j is %j", (text, origin) => expect(webUiOrigin(text)).toBe(origin));
