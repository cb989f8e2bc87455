import { describe, expect, test } from "bun:test";
import { readIngress } from "../../../../src/ingress/core/ingress-spec.ts";
import { ingress } from "../../../support/ingress-input.ts";

const read = (spec: Record<string, unknown>) => readIngress(ingress("web", spec));
const options = (spec: Record<string, unknown>) => read(spec).options;
const hash = "$5$abc$sCOGUciM.GdmYMCUvmUcgu03oRH87O0clF96.9mwWGB";

test("an ingress with a host alone has the defaults", () => {
  expect(read({ host: "A.test" })).toEqual({
    spec: { host: "A.test" },
    hosts: ["a.test"],
    paths: [{ prefix: "/", strip: false }],
    options: {
      balance: "round_robin",
      stickyCookie: undefined,
      protocol: "http",
      sendProxyProtocol: false,
      tls: undefined,
      redirects: [],
      requestHeaders: { set: [], remove: [] },
      responseHeaders: { set: [], remove: [] },
      compress: false,
      basicAuth: [],
      allow: [],
      deny: [],
      rateLimit: undefined,
      isInMaintenance: false,
      limits: { bodyBytes: undefined, responseMs: 300_000, tunnelMs: 86_400_000, connectionsPerReplica: undefined },
      hold: { forMs: 10_000, requestsMax: 500 },
      accessLog: "off",
      errorPages: {},
    },
    unreadable: [],
    isIssuerKnown: true,
  });
});

test("every field reaches the options", () => {
  const spec = {
    host: "a.test",
    lb: { policy: "ip_hash" },
    sticky: { cookie: "replica" },
    protocol: "h2c",
    proxy_protocol: true,
    tls: {},
    hsts: { preload: true },
    redirects: [{ from: "WWW.a.test" }, { from: "b.test", to: "c.test", status: 301 }],
    headers: { request: { set: { "X-A": "1" } }, response: { remove: ["Server"] } },
    compress: true,
    basic_auth: { ops: hash },
    allow: ["10.0.0.0/8"],
    deny: ["::1"],
    rate_limit: { requests: 5 },
    maintenance: true,
    limits: { body: "1Mi", head: "32Ki", timeout: "1s", client_timeout: "4s", tunnel: "2s", connections: 3 },
    hold: { for: "0", requests: 0 },
    access_log: "all",
    error_pages: { "503": "<p>Back soon" },
  };
  expect(options(spec)).toEqual({
    balance: "ip_hash",
    stickyCookie: "replica",
    protocol: "h2c",
    sendProxyProtocol: true,
    tls: { redirect: true, hsts: { maxAgeSeconds: 31_536_000, includeSubdomains: false, preload: true } },
    redirects: [
      { from: "www.a.test", to: "a.test", status: 308 },
      { from: "b.test", to: "c.test", status: 301 },
    ],
    requestHeaders: { set: [{ name: "X-A", value: "1" }], remove: [] },
    responseHeaders: { set: [], remove: ["Server"] },
    compress: true,
    basicAuth: [{ user: "ops", hash }],
    allow: ["10.0.0.0/8"],
    deny: ["::1"],
    rateLimit: { requests: 5, periodMs: 60_000 },
    isInMaintenance: true,
    limits: {
      ...{ bodyBytes: 1_048_576, headBytes: 32_768, responseMs: 1_000, clientMs: 4_000, tunnelMs: 2_000 },
      connectionsPerReplica: 3,
    },
    hold: { forMs: 0, requestsMax: 0 },
    accessLog: "all",
    errorPages: { 503: "<p>Back soon" },
  });
});

test("paths have one spelling", () => {
  expect(read({ locations: [{ path: "/api//v1/", strip: true }, { path: "/" }] }).paths).toEqual([
    { prefix: "/api/v1", strip: true },
    { prefix: "/", strip: false },
  ]);
});

test("tls and its redirect can be switched off", () => {
  expect(options({ tls: { enabled: false } }).tls).toBeUndefined();
  expect(options({ tls: {}, https_redirect: false }).tls).toEqual({ redirect: false, hsts: undefined });
});

test("a password becomes a hash, the same one each time", () => {
  const [user] = options({ basic_auth: { ops: "secret" } }).basicAuth;
  expect(user?.hash).toStartWith("$5$rounds=1000$");
  expect(options({ basic_auth: { ops: "secret" } }).basicAuth).toEqual([{ user: "ops", hash: user?.hash ?? "" }]);
});

test("the same manifest is not read again", () => {
  const manifest = ingress("web", { host: "a.test" });
  expect(readIngress({ ...manifest })).toBe(readIngress(manifest));
});

describe("manifests of another version", () => {
  test("fields that do not fit count as absent", () => {
    const spec = { host: "a.test", hosts: ["b c", "b.test"], limits: { timeout: "later" }, compress: "br", zone: 1 };
    expect(read(spec).hosts).toEqual(["a.test", "b.test"]);
    expect(options(spec)).toEqual(options({ host: "a.test" }));
  });
  test.each<[Record<string, unknown>, string[]]>([
    [{ allow: [{ country: "de" }] }, ["allow"]],
    [{ allow: ["10.0.0.0/8", "@office"] }, ["allow"]],
    [{ deny: "10.0.0.0/8" }, ["deny"]],
    [{ basic_auth: { ops: "$argon2id$x" } }, ["basic_auth"]],
    [{ basic_auth: { ops: { from: "config" } } }, ["basic_auth"]],
    [{ rate_limit: { requests: 5, by: "header" } }, ["rate_limit"]],
    [{ allow: [], deny: [], basic_auth: {} }, []],
  ])("rules for access that cannot be read are named: %j", (spec, fields) => {
    expect(read(spec).unreadable).toEqual(fields);
  });
  test("an unknown issuer is not taken for the default one", () => {
    expect(read({ tls: { provider: "spiffe" } }).isIssuerKnown).toBe(false);
    expect(read({ tls: {} }).isIssuerKnown).toBe(true);
  });
});
