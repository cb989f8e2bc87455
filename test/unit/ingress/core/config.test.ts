import { expect, test } from "bun:test";
import { bufferBytes, rewriteBytes } from "../../../../src/ingress/core/config.ts";
import { changes } from "../../../../src/ingress/core/changes.ts";
import type { SiteOptions } from "../../../../src/ingress/core/table.ts";
import { proxySetup } from "../../../support/haproxy.ts";
import { plainOptions, site, table } from "../../../support/ingress-table.ts";

const kib = 1_024;
const bufferOf = (options: Partial<SiteOptions>) => bufferBytes(table([site("a", [], { options }), site("b", [])]));
const withHead = (headBytes: number) => bufferOf({ limits: { ...plainOptions.limits, headBytes } });
const withPem = (length: number) =>
  bufferBytes(table([], { certificates: [{ id: "a", names: ["a.test"], pem: "x".repeat(length) }] }));

test("buffers have room for the longest head that a site asks for, and for what the proxy adds", () => {
  expect(bufferOf({})).toBe(18 * kib);
  expect(withHead(16 * kib)).toBe(18 * kib);
  expect(withHead(16 * kib + 1)).toBe(22 * kib);
  expect(withHead(128 * kib)).toBe(130 * kib);
});

test("a client may pause for as long as the most patient site allows", () => {
  const timeOf = (...times: (number | undefined)[]) => {
    const sites = times.map((clientMs, index) => {
      const limits = { ...plainOptions.limits, ...(clientMs === undefined ? {} : { clientMs }) };
      return site(`s${index}`, [], { options: { limits } });
    });
    const { files } = changes(undefined, table(sites), proxySetup("/run/x"));
    const config = files.find(({ path }) => path.endsWith("/haproxy.cfg"))?.content ?? "";
    return /^ {2}timeout client (\d+)ms$/m.exec(config)?.[1];
  };
  expect([timeOf(), timeOf(undefined), timeOf(1_000)]).toEqual(["300000", "300000", "1000"]);
  expect([timeOf(1_000, undefined), timeOf(1_000, 900_000, 2_000)]).toEqual(["300000", "900000"]);
});

test("no number of a site makes buffers larger than the longest head that is allowed", () =>
  expect(withHead(Number.MAX_SAFE_INTEGER)).toBe(130 * kib));

test("own pages and certificates fit as well, except certificates that come with a load", () => {
  expect(bufferOf({ errorPages: { 503: "é".repeat(10 * kib) } })).toBe(22 * kib);
  expect(withPem(9 * kib)).toBe(18 * kib);
  expect(withPem(17 * kib)).toBe(22 * kib);
  expect(withPem(64 * kib)).toBe(34 * kib);
});

test("headers that an ingress sets have room of their own, which no head of a request takes", () => {
  const withHeaders = (count: number, bytes: number) => {
    const set = Array.from({ length: count }, (_, index) => ({ name: `X-${index}`, value: "v".repeat(bytes) }));
    const options = { requestHeaders: { set: [], remove: [] }, responseHeaders: { set, remove: ["Server"] } };
    return [bufferOf(options), rewriteBytes(table([site("a", [], { options })]))];
  };
  expect(withHeaders(0, 0)).toEqual([18 * kib, kib]);
  expect(withHeaders(3, 100)).toEqual([18 * kib, kib]);
  expect(withHeaders(20, 100)).toEqual([22 * kib, 5 * kib]);
  expect(withHeaders(50, 4 * kib)).toEqual([146 * kib, 129 * kib]);
});

test("refreshes of sessions are sent once more, to the server itself alone", () => {
  const own = site("own", [], { options: { isOwn: true } });
  const { files } = changes(undefined, table([own, site("app", [])]), proxySetup("/run/x"));
  const config = files.find(({ path }) => path.endsWith("/haproxy.cfg"))?.content ?? "";
  const rules = config.split("\n").filter((line) => line.includes("disable-l7-retry"));
  const wide = rules.filter((rule) => rule.includes("/api/v1/sessions/(exchange|refresh)$"));
  expect([wide.length, rules.length > 1]).toEqual([1, true]);
  expect(rules.filter((rule) => !wide.includes(rule)).every((rule) => rule.endsWith("HEAD OPTIONS }"))).toBe(true);
});
