import { expect, test } from "bun:test";
import { askedCertificates } from "../../../../../src/ingress/core/certificates/asked.ts";
import { type Issuer, letsencrypt, letsencryptStaging } from "../../../../../src/ingress/core/certificates/wanted.ts";
import { ingress } from "../../../../support/ingress-input.ts";

const asked = (...specs: Record<string, unknown>[]) =>
  askedCertificates(specs.map((spec, index) => ingress(`i${index}`, spec)));
const plain = { email: undefined, root: undefined, eab: undefined, dnsPlugin: undefined, skipChecks: false };

test("hosts and redirected hosts of every ingress with TLS", () => {
  const spec = { host: "a.test", hosts: ["b.test"], redirects: [{ from: "www.a.test" }], tls: { email: "ops@a.test" } };
  expect(asked(spec, { host: "c.test" }, { host: "d.test", tls: { enabled: false } })).toEqual([
    {
      names: ["a.test", "b.test", "www.a.test"],
      issuer: { kind: "acme", directory: letsencrypt, ...plain, email: "ops@a.test" },
    },
  ]);
});

test.each<[Record<string, unknown>, Issuer]>([
  [{ provider: "internal" }, { kind: "internal" }],
  [{ provider: "letsencrypt_staging" }, { kind: "acme", directory: letsencryptStaging, ...plain }],
  [
    { provider: "file", certificate: "/c.pem", key: "/k.pem" },
    { kind: "file", certificate: "/c.pem", key: "/k.pem" },
  ],
  [
    {
      provider: "acme",
      directory: "https://ca.test/d",
      directory_ca: "-----BEGIN",
      eab: { kid: "k", hmac_key: "aGk" },
      dns: "cloud",
      skip_checks: true,
    },
    {
      kind: "acme",
      directory: "https://ca.test/d",
      email: undefined,
      root: "-----BEGIN",
      eab: { keyId: "k", key: "aGk" },
      dnsPlugin: "cloud",
      skipChecks: true,
    },
  ],
])("%j", (tls, issuer) => {
  expect(asked({ host: "a.test", tls })).toEqual([{ names: ["a.test"], issuer }]);
});

test("the name of a TCP port with TLS", () => {
  const spec = { host: "db.test", tcp: { port: 5432 }, tls: { provider: "internal" } };
  expect(asked(spec)).toEqual([{ names: ["db.test"], issuer: { kind: "internal" } }]);
});

test("a wildcard needs DNS where a CA issues it", () => {
  const names = (tls: object) => asked({ hosts: ["a.test", "*.a.test"], tls }).flatMap((one) => one.names);
  expect(names({ on_demand: true })).toEqual(["a.test"]);
  expect(names({ dns: "cloud" })).toEqual(["a.test", "*.a.test"]);
  expect(names({ provider: "internal" })).toEqual(["a.test", "*.a.test"]);
  expect(names({ provider: "internal", on_demand: true })).toEqual(["a.test"]);
  expect(asked({ host: "*", tls: { provider: "internal" } })).toEqual([]);
});

test("an unknown or incomplete issuer is not replaced by another", () => {
  expect(asked({ host: "a.test", tls: { provider: "spiffe" } })).toEqual([]);
  expect(asked({ host: "a.test", tls: { provider: "acme" } })).toEqual([]);
  expect(asked({ host: "a.test", tls: { provider: "file", key: "/k" } })).toEqual([]);
});
