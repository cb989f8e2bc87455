import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import type { Tenant } from "../support/identity.ts";
import { appUrl, baseUrl, signInWorld, type SignInWorld } from "../support/sign-in-world.ts";

let world: SignInWorld;
let shop: Tenant;

beforeAll(async () => {
  world = await signInWorld();
  shop = await world.shop();
});
afterAll(() => world.stop());

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom(
    "",
    "\u0000",
    "%",
    "%zz",
    "%00",
    "../..",
    "a".repeat(3_000),
    "🦊",
    "\ud800",
    "<x>",
    "inst_a",
    "google",
    appUrl,
  ),
  fc.constantFrom(
    "https://evil.test/",
    "//evil.test",
    "a".repeat(64),
    "0".repeat(64),
    "A".repeat(43),
    "__proto__",
    "constructor",
  ),
);
const names = [
  "redirect_uri",
  "provider",
  "state",
  "code",
  "error",
  "iss",
  "token",
  "email",
  "password",
  "name",
  "csrf",
  "at",
  "hop",
];
const fields = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), text), text), { maxLength: 6 });
const paths = [
  ...["/sign-in", "/sign-up", "/sign-out", "/forgot", "/reset", "/verify", "/continue", "/oauth/authorize"],
  ...["/oauth/google/callback", "/oauth/constructor/callback", "/oauth/oidc/x.y/callback", "/oauth//callback"],
];

const visit = fc.record({
  method: fc.constantFrom("GET", "POST"),
  path: fc.constantFrom(...paths),
  place: fc.constantFrom("path", "none", "unknown"),
  query: fields,
  form: fields,
  type: fc.constantFrom("application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=x", ""),
  cookie: fc.string({ unit: fc.constantFrom(..."abcABC019_=.; -"), maxLength: 80 }),
  language: fc.string({ unit: fc.constantFrom(..."de-,;q=0.1* "), maxLength: 40 }),
});

const encode = (pairs: [string, string][]) =>
  pairs
    .map(([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`)
    .join("&");

/** Where a browser may be sent at all: the app, the providers that the instance names, and ourselves. */
function isFair(location: string): boolean {
  const { origin } = new URL(location, baseUrl);
  return [new URL(appUrl).origin, baseUrl, world.provider.url].includes(origin);
}

test("whatever is asked, the answer is a page or a fair redirect, never a fault of ours", async () => {
  await fc.assert(
    fc.asyncProperty(visit, async ({ method, path, place, query, form, type, cookie, language }) => {
      const prefix = { path: `/i/${shop.id}`, none: "", unknown: "/i/inst_unknown" }[place];
      const headers: Record<string, string> = { "Content-Type": type, Cookie: cookie, "Accept-Language": language };
      const init = method === "GET" ? { method, headers } : { method, headers, body: encode(form) };
      const response = await world.fetch(new Request(`${baseUrl}${prefix}${path}?${encode(query)}`, init));
      const location = response.headers.get("location");
      expect([response.status, location === null || isFair(location)]).toEqual([response.status, true]);
      expect(response.status).toBeLessThan(500);
      if (response.headers.get("content-type")?.startsWith("text/html") === true) {
        expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      }
    }),
    { numRuns: 400 },
  );
  expect(world.logged.filter((line) => line.includes('"internal error"'))).toEqual([]);
}, 120_000);
