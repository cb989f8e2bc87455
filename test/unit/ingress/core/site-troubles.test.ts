import { expect, test } from "bun:test";
import { failingRequests, missingCertificates } from "../../../../src/ingress/core/site-troubles.ts";

const lately = (requests: number, failed: number) => failingRequests({ seconds: 30, requests, failed });

test.each([
  [0, 0, undefined],
  [100, 0, undefined],
  [100, 4, undefined],
  [100, 5, undefined],
  [1_000, 50, undefined],
  [1_000, 51, "51 of 1000 requests failed in the last 30 s"],
  [100, 6, "6 of 100 requests failed in the last 30 s"],
  [1, 1, "1 of 1 requests failed in the last 30 s"],
  [2, 1, undefined],
])("%d requests, %d of them failed: %p", (requests, failed, text) => {
  expect(lately(requests, failed)).toBe(text);
});

const certificate = (change: object = {}) => ({
  ...{ names: ["shop.test"], state: "pending" as const, issuing: false, failures: 0, error: undefined },
  ...change,
});

test("a host is missed where the server has no valid certificate for it, with the reason", () => {
  const missing = (...all: ReturnType<typeof certificate>[]) => missingCertificates(["shop.test"], all);
  expect(missing(certificate({ state: "valid" }))).toEqual([]);
  expect(missing(certificate())).toEqual(["no valid certificate for shop.test: none was issued yet"]);
  expect(missing(certificate({ state: "expired" }))).toEqual(["no valid certificate for shop.test: it has expired"]);
  const refused = certificate({ state: "failed", failures: 2, error: "dns: no address" });
  expect(missing(refused)).toEqual(["no valid certificate for shop.test: dns: no address"]);
  expect(missing({ ...refused, issuing: true })).toHaveLength(1);
});

test("nothing is missed while the first one is ordered, where another covers the host, or where nobody ordered one", () => {
  expect(missingCertificates(["shop.test"], [certificate({ issuing: true })])).toEqual([]);
  const wildcard = certificate({ names: ["*.shop.test"], state: "valid" });
  const own = certificate({ names: ["a.shop.test"], state: "failed", failures: 1 });
  expect(missingCertificates(["a.shop.test"], [own, wildcard])).toEqual([]);
  expect(missingCertificates(["other.test", "*"], [certificate()])).toEqual([]);
});
