import { describe, expect, test } from "bun:test";
import { deploymentFields } from "../../../../src/orchestration/api/kinds/deployment.ts";
import { routingFields } from "../../../../src/orchestration/api/kinds/routing.ts";
import { check, refuses } from "./spec-check.ts";

const hosts = (count: number) => Array.from({ length: count }, (_, index) => `h${index}.test`);
const paths = (count: number) => Array.from({ length: count }, (_, index) => ({ path: `/p${index}` }));
const many = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, value]));

describe("hosts, paths and targets", () => {
  refuses("ingress", { host: "a.test" }, [
    [{ host: undefined }, "spec.host: is required"],
    [{ host: "http://a.test" }, 'spec.host: "http://a.test" is not a host name'],
    [{ host: "a.test:80" }, "spec.host: "],
    [{ host: "-a.test" }, "spec.host: "],
    [{ host: "a..test" }, "spec.host: "],
    [{ host: "a.*.test" }, "spec.host: "],
    [{ host: `${"a".repeat(64)}.test` }, "spec.host: "],
    [{ hosts: ["b.test", "A.test"] }, 'spec.hosts[1]: the host "a.test" is already at spec.host'],
    [{ service: "../x" }, 'spec.service: "../x" is not a resource name'],
    [{ service: "@shell" }, 'spec.service: "@shell" is not a part of the server; write @identity or @observability'],
    [{ service: "@identity", port: 80 }, "spec.port: does not apply to @identity"],
    [{ service: "@identity", ordinal: 0 }, "spec.ordinal: does not apply to @identity"],
    [{ ordinal: -1 }, "spec.ordinal: must be at least 0"],
    [{ port: 70_000 }, "spec.port: must be at most 65535"],
    ...Object.entries({
      "/%61pi": "/api",
      "/a/./b": "/a/b",
      "/a;v=1": "/a",
      "/caf%c3%a9": "/caf%C3%A9",
      "/%5Ca": "/a",
    }).map(([path, plain]): [object, string] => [
      { locations: [{ path }] },
      `spec.locations[0].path: "${path}" has a plainer form; write "${plain}"`,
    ]),
    [{ locations: [{ path: "api" }] }, 'spec.locations[0].path: "api" is not a path prefix'],
    [{ locations: [{ path: "/a/../b" }] }, "spec.locations[0].path: "],
    [{ locations: [{ path: "/a\u0001b" }] }, "spec.locations[0].path: "],
    [{ locations: [{ path: "/\u00e9" }] }, "spec.locations[0].path: "],
    [{ locations: [{ path: `/${"a".repeat(1_024)}` }] }, "spec.locations[0].path: has 1025 characters; at most 1024"],
    [{ locations: [{ path: "/a" }, { path: "/a/" }] }, 'spec.locations[1].path: the path "/a" is already at'],
    [{ locations: [{}] }, "spec.locations[0].path: is required"],
    [{ hosts: hosts(10), locations: paths(100) }, "spec.locations: hosts times locations are 1100; at most 1000"],
    [{ lb: { policy: "leastconn" } }, 'spec.lb.policy: "leastconn" is not one of round_robin, random, least_conn'],
    [{ lb: { interval: "0s" } }, "spec.lb.interval: "],
  ]);
});

describe("apps", () => {
  refuses("app", { image: "web:1" }, [
    [{ tls: {} }, "spec.tls: needs a host"],
    [{ locations: [] }, "spec.locations: needs a host"],
    [{ compress: true }, "spec.compress: needs a host"],
    [{ allow: ["10.0.0.0/8"] }, "spec.allow: needs a host"],
    [{ host: "x y" }, "spec.host: "],
    [{ service: "web" }, "spec.service: unknown field"],
    [{ image: "X" }, "spec.image: "],
  ]);
  test("may have a TCP port in place of a host", () => {
    expect(check("app", { image: "broker:1", tcp: { port: 1883 } })).toEqual([]);
  });
  test("no field is both of the deployment and of the ingress", () => {
    expect(Object.keys(routingFields).filter((field) => field in deploymentFields)).toEqual([]);
  });
});

const acme = { provider: "acme", directory: "https://ca.test/directory" };

describe("tls", () => {
  refuses("ingress", { host: "a.test" }, [
    [{ tls: { provider: "acme" } }, "spec.tls.directory: is required with provider acme"],
    [{ tls: { provider: "zerossl" } }, 'spec.tls.provider: expected "letsencrypt", "letsencrypt_staging", "internal"'],
    [{ tls: { directory: "https://ca.test" } }, "spec.tls.directory: is for provider acme; the provider here is lets"],
    [{ tls: { ...acme, directory: "ca.test" } }, "spec.tls.directory: is not an http address"],
    [{ tls: { ...acme, directory_ca: "/etc/ca.pem" } }, "spec.tls.directory_ca: is not PEM"],
    [{ tls: { eab: { kid: "k", hmac_key: "aGk" } } }, "spec.tls.eab: is for provider acme"],
    [{ tls: { ...acme, eab: { kid: "k", hmac_key: "a b" } } }, "spec.tls.eab.hmac_key: is not base64url"],
    [{ tls: { ...acme, eab: { kid: "k", hmac_key: 3 } } }, "spec.tls.eab.hmac_key: expected string, got integer;"],
    [{ tls: { provider: "file", key: "/k.pem" } }, "spec.tls.certificate: is required with provider file"],
    [{ tls: { provider: "file", key: "/k.pem", certificate: "c.pem" } }, 'spec.tls.certificate: "c.pem" is not an abs'],
    [{ tls: { provider: "file", key: "/a/../k", certificate: "/c.pem" } }, "spec.tls.key: "],
    [{ tls: { key: "/k.pem" } }, "spec.tls.key: is for provider file"],
    [{ tls: { provider: "internal", dns: "cloud" } }, "spec.tls.dns: is for provider letsencrypt or"],
    [{ tls: { dns: "../cloud" } }, 'spec.tls.dns: "../cloud" is not a plugin name'],
    [{ tls: { provider: "internal", skip_checks: true } }, "spec.tls.skip_checks: is for provider letsencrypt or"],
    [{ tls: { ask: "x" } }, 'spec.tls.ask: "x" is not an http address'],
    [{ tls: { email: "ops" } }, 'spec.tls.email: "ops" is not a mail address'],
    [{ hosts: ["*.a.test"], tls: {} }, 'spec.tls.dns: is required for "*.a.test"'],
    ...["a\nb", "a;b", "a{b", "a}", "$(a)", "a\\b", '"a"', "a'b", "a/b", "ä", "", "a#b", "x".repeat(201)].map(
      (policy): [object, string] => [
        { plugin: "front", lb: { policy } },
        `spec.lb.policy: ${JSON.stringify(policy.slice(0, 80))} is not a policy; use up to 200 letters`,
      ],
    ),
    ...["a@b\u0001", "a@b.test\u001b[m", "a@{b}", "a$(id)@b.test", '"a"@b.test', `${"a".repeat(65)}@b.test`].map(
      (email): [object, string] => [
        { tls: { email } },
        `spec.tls.email: ${JSON.stringify(email.slice(0, 80))} is not a mail`,
      ],
    ),
    ...["https://a.test/\n}", "https://a.test/ b", "https://a.test/{b}", 'https://a.test/"', "ftp://a.test"].map(
      (ask): [object, string] => [{ tls: { ask } }, `spec.tls.ask: ${JSON.stringify(ask)} is not an http address`],
    ),
    [{ plugin: "../front" }, 'spec.plugin: "../front" is not a plugin name'],
    [{ plugin: "front", basic_auth: { a: "b" } }, "spec.basic_auth: does not reach a plugin, which gets one host"],
    [{ plugin: "front", host: "a.test", hosts: ["b.test"] }, "spec.hosts: does not reach a plugin"],
    [{ plugin: "front", tls: { dns: "cloud" } }, "spec.tls.dns: does not reach a plugin, which gets enabled, provider"],
    [{ plugin: "front", tls: acme }, "spec.tls.provider: acme does not work with a plugin"],
    [{ hosts: ["*"], tls: {} }, 'spec.tls.on_demand: is required for the host "*"'],
    [{ hosts: ["*.a.test"], tls: { on_demand: true } }, "spec.tls.ask: is required with on_demand"],
    [{ https_redirect: true }, "spec.https_redirect: needs tls"],
    [{ https_redirect: true, tls: { enabled: false } }, "spec.https_redirect: needs tls"],
    [{ hsts: {} }, "spec.hsts: needs tls"],
    [{ tls: {}, hsts: { max_age: -1 } }, "spec.hsts.max_age: must be at least 0"],
  ]);
  test.each([
    { host: "*.a.test", tls: { dns: "cloud" } },
    { host: "*.a.test", tls: { on_demand: true, ask: "https://a.test/ask" } },
    { host: "*", tls: { on_demand: true, ask: "http://127.0.0.1:8000/ask" } },
    { host: "*" },
    { hosts: ["a.test"], plugin: "front", lb: { policy: "weighted_round_robin 3 1" } },
    { host: "a.test", plugin: "front", lb: { policy: "header X-User, cookie:a=b" }, tls: { email: "o'b+x@a-b.test" } },
    { host: "*.a.test", plugin: "front", tls: { email: "ops@a.test" }, locations: [{ path: "/" }], lb: {}, port: 80 },
    { host: "*.a.test", tls: { provider: "internal" } },
    { host: "*.a.test", tls: { enabled: false } },
    { host: "a.test", tls: { provider: "file", certificate: "/etc/ssl/a.pem", key: "/etc/ssl/a.key" } },
    {
      host: "a.test",
      tls: { ...acme, eab: { kid: "k", hmac_key: "aGk" }, directory_ca: "-----BEGIN CERTIFICATE-----\n" },
    },
    { host: "a.test", tls: { ...acme, eab: { kid: "k", hmac_key: "********" } } },
    { host: "a.test", tls: {}, https_redirect: false, hsts: { preload: true } },
  ])("%j is fine", (spec) => {
    expect(check("ingress", spec)).toEqual([]);
  });
});

const redirect = (from: string, more: object = {}) => ({ redirects: [{ from, ...more }] });
const request = (set: Record<string, string>) => ({ headers: { request: { set } } });

describe("HTTP", () => {
  refuses("ingress", { host: "a.test" }, [
    [{ protocol: "grpc" }, "spec.protocol: expected"],
    [{ sticky: {} }, "spec.sticky.cookie: is required"],
    [{ sticky: { cookie: "a b" } }, "spec.sticky.cookie: is not a cookie name"],
    [redirect("*.b.test"), 'spec.redirects[0].from: "*.b.test" is not a host name'],
    [redirect("A.test", { to: "b.test" }), 'spec.redirects[0].from: "a.test" is a host of this ingress'],
    [redirect("b.test", { to: "https://a.test" }), "spec.redirects[0].to: "],
    [redirect("b.test", { to: "b.test" }), 'spec.redirects[0].to: "b.test" is redirected itself'],
    [redirect("b.test", { status: 200 }), "spec.redirects[0].status: 200 is not a status of a redirect"],
    [{ redirects: [{ from: "b.test" }, { from: "B.test" }] }, 'spec.redirects[1].from: the host "b.test" is already'],
    [request({ "a b": "x" }), 'spec.headers.request.set["a b"]: is not a header name'],
    [request({ "x-a": "1\r\nx-b: 2" }), "spec.headers.request.set.x-a: the value holds a control character"],
    [request({ "x-a": "a".repeat(4_097) }), "spec.headers.request.set.x-a: the value has 4097 characters"],
    [request({ Connection: "close" }), 'spec.headers.request.set.Connection: "Connection" belongs to the connection'],
    [request({ host: "x" }), "spec.headers.request.set.host: "],
    [request({ "X-Forwarded-For": "1.2.3.4" }), "spec.headers.request.set.X-Forwarded-For: "],
    [request({ "x-a": "1", "X-A": "2" }), 'spec.headers.request.set.X-A: the header "x-a" is already at'],
    [request(many(51, "1")), "spec.headers.request: changes 51 headers; at most 50"],
    [{ headers: { response: { remove: ["Content-Length"] } } }, "spec.headers.response.remove[0]: "],
    [{ headers: { response: { set: { server: "x" }, remove: ["Server"] } } }, "spec.headers.response.remove[0]: the"],
    [{ basic_auth: {} }, "spec.basic_auth: has no user"],
    [{ basic_auth: { "a:b": "x" } }, 'spec.basic_auth: "a:b" is not a user name'],
    [{ basic_auth: { ops: "" } }, "spec.basic_auth.ops: the password is empty"],
    [{ basic_auth: { ops: "$apr1$x$y" } }, 'spec.basic_auth.ops: begins with "$" and is not a hash'],
    [{ basic_auth: { ops: "a\nb" } }, "spec.basic_auth.ops: the password holds a control character"],
    [{ basic_auth: { ops: 3 } }, "spec.basic_auth.ops: expected string, got integer; put it in quotes"],
    [{ basic_auth: many(101, "secret") }, "spec.basic_auth: has 101 users; at most 100"],
    [{ allow: ["10.0.0.0/33"] }, 'spec.allow[0]: "10.0.0.0/33" is not a network'],
    [{ deny: ["1.2.3.4", "all"] }, 'spec.deny[1]: "all" is not a network'],
    [{ deny: Array.from({ length: 501 }, () => "1.2.3.4") }, "spec.deny: has 501 entries; at most 500"],
    [{ rate_limit: { requests: 0 } }, "spec.rate_limit.requests: must be at least 1"],
    [{ rate_limit: { requests: 1, per: "500ms" } }, 'spec.rate_limit.per: "500ms" is out of range'],
    [{ rate_limit: { requests: 1, per: "soon" } }, 'spec.rate_limit.per: "soon" is not a duration'],
    [{ limits: { body: "big" } }, 'spec.limits.body: "big" is not a size'],
    [{ limits: { head: "8Ki" } }, 'spec.limits.head: "8Ki" is not a size in range; write "16Ki" to "128Ki"'],
    [{ limits: { head: "1Mi" } }, 'spec.limits.head: "1Mi" is not a size in range'],
    [{ limits: { head: "long" } }, 'spec.limits.head: "long" is not a size in range'],
    [{ limits: { timeout: "0s" } }, "spec.limits.timeout: "],
    [{ limits: { timeout: "2d" } }, 'spec.limits.timeout: "2d" is too long'],
    [{ limits: { client_timeout: "0s" } }, "spec.limits.client_timeout: "],
    [{ limits: { client_timeout: "25h" } }, 'spec.limits.client_timeout: "25h" is too long'],
    [{ limits: { tunnel: "x" } }, "spec.limits.tunnel: "],
    [{ limits: { connections: 100_001 } }, "spec.limits.connections: must be at most 100000"],
    [{ hold: { for: "2m" } }, 'spec.hold.for: "2m" is too long'],
    [{ hold: { requests: 10_001 } }, "spec.hold.requests: must be at most 10000"],
    [{ access_log: "some" }, "spec.access_log: expected"],
    [{ error_pages: { "200": "x" } }, 'spec.error_pages.200: "200" has no page; write 403,'],
    [{ error_pages: { "503": "" } }, "spec.error_pages.503: is empty"],
    [{ error_pages: { "503": "\u00e9".repeat(8_193) } }, "spec.error_pages.503: has 16386 bytes; at most 16384"],
  ]);
  test("a wildcard is no target of a redirect by default", () => {
    expect(check("ingress", { host: "*.a.test", ...redirect("b.test") })).toEqual([
      'spec.redirects[0].to: is required, because "*.a.test" is a wildcard',
    ]);
  });
  test("passwords and headers are not repeated", () => {
    const spec = { host: "a.test", basic_auth: { ops: "$hidden" }, ...request({ Authorization: "hidden\n" }) };
    const found = check("ingress", spec);
    expect(found).toHaveLength(2);
    expect(found.join()).not.toContain("hidden");
  });
  test("everything at once is fine", () => {
    const spec = {
      host: "a.test",
      tls: {},
      ...redirect("www.a.test", { status: 301 }),
      protocol: "h2c",
      proxy_protocol: true,
      sticky: { cookie: "replica" },
      hsts: { max_age: 0, include_subdomains: true },
      headers: { request: { set: { "X-A": "1" }, remove: ["Cookie"] }, response: { remove: ["Server"] } },
      compress: true,
      basic_auth: { ops: "correct horse" },
      allow: ["10.0.0.0/8", "::1"],
      deny: ["10.1.0.0/16"],
      rate_limit: { requests: 100, per: "1s" },
      maintenance: true,
      limits: { body: "10Mi", head: "32Ki", timeout: "30s", tunnel: "1h", connections: 100 },
      hold: { for: "0s", requests: 0 },
      access_log: "sampled",
      error_pages: { "503": "<h1>Back soon</h1>" },
    };
    expect(check("ingress", spec)).toEqual([]);
  });
});

describe("TCP", () => {
  refuses("ingress", { tcp: { port: 5432 } }, [
    [{ tcp: { port: 0 } }, "spec.tcp.port: must be at least 1"],
    [{ tcp: {} }, "spec.tcp.port: is required"],
    [{ tcp: { port: 1, address: "lo" } }, 'spec.tcp.address: "lo" is not an IP address'],
    [{ locations: [] }, "spec.locations: is for HTTP"],
    [{ compress: true }, "spec.compress: is for HTTP"],
    [{ basic_auth: { ops: "secret" } }, "spec.basic_auth: is for HTTP"],
    [{ limits: { body: "1Mi" } }, "spec.limits.body: is for HTTP"],
    [{ limits: { head: "32Ki" } }, "spec.limits.head: is for HTTP"],
    [{ service: "@identity" }, "spec.tcp: does not apply to @identity"],
    [{ host: "db.test" }, "spec.host: needs tls with tcp"],
    [{ tls: { provider: "internal" } }, "spec.host: is required with tcp and tls"],
  ]);
  test.each([
    { tcp: { port: 5432, address: "10.0.0.1" }, allow: ["10.0.0.0/8"], limits: { tunnel: "1d", connections: 9 } },
    { tcp: { port: 5432 }, host: "db.test", tls: { provider: "internal" }, service: "db", ordinal: 0, port: 5432 },
    { tcp: { port: 5432 }, proxy_protocol: true, lb: { policy: "least_conn" } },
  ])("%j is fine", (spec) => {
    expect(check("ingress", spec)).toEqual([]);
  });
});
