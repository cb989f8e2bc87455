import { expect, test } from "bun:test";
import { hiddenDomain, uncertifiedHosts } from "../../../../src/orchestration/core/local-names.ts";

const text = (hosts: string) =>
  `tls: Let's Encrypt certifies public domains only, not ${hosts}; write tls: { provider: internal }`;

test.each([
  [{ host: "app.localhost", tls: {} }, "app.localhost"],
  [
    { hosts: ["shop.com", "a.local", "*.b.test", "c.internal", "d.example", "printer.lan"], tls: {} },
    "a.local, *.b.test, c.internal, d.example, printer.lan",
  ],
  [{ host: "192.0.2.7", tls: { provider: "letsencrypt" } }, "192.0.2.7"],
  [{ host: "web", tls: { provider: "letsencrypt_staging" } }, "web"],
  [{ host: "nas.home.arpa", tls: { enabled: true } }, "nas.home.arpa"],
])("%j is warned of", (spec, hosts) => {
  expect(uncertifiedHosts("ingress", spec)).toEqual([text(hosts)]);
});

test.each([
  [{ host: "app.localhost" }],
  [{ host: "app.localhost", tls: { enabled: false } }],
  [{ host: "app.localhost", tls: { provider: "internal" } }],
  [{ host: "app.localhost", tls: { provider: "file" } }],
  [{ host: "app.internal", tls: { provider: "acme", directory: "https://ca.internal/directory" } }],
  [{ host: "app.localhost", tls: {}, plugin: "front" }],
  [{ hosts: ["shop.example.com", "test.com", "local.net", "1.2.3.4.com"], tls: {} }],
  [{ host: "*", tls: { on_demand: true } }],
])("%j is not", (spec) => {
  expect(uncertifiedHosts("ingress", spec)).toEqual([]);
});

test("other kinds have no certificates", () => {
  expect(uncertifiedHosts("deployment", { host: "a.localhost", tls: {} })).toEqual([]);
});

test.each([
  ["deployment", "dev", ["web.dev"]],
  ["statefulset", "com", ["web.com"]],
  ["deployment", "shop", []],
  ["job", "dev", []],
] as const)("%s in scope %s hides %j", (kind, scope, hidden) => {
  const texts = hiddenDomain({ kind, scope, name: "web" });
  expect(texts).toEqual(
    hidden.map((domain) => expect.stringContaining(`containers reach this app as ${domain}, and not`)),
  );
});
