import { expect, test } from "bun:test";
import fc from "fast-check";
import { covers } from "../../../../../src/ingress/core/certificates/names.ts";
import {
  accountKey,
  type AcmeIssuer,
  issuerKey,
  letsencrypt,
  letsencryptStaging,
  targetsOf,
} from "../../../../../src/ingress/core/certificates/wanted.ts";

const acme: AcmeIssuer = {
  kind: "acme",
  directory: letsencrypt,
  email: undefined,
  root: undefined,
  eab: undefined,
  dnsPlugin: undefined,
  skipChecks: false,
};
const internal = { kind: "internal" } as const;
const file = { kind: "file", certificate: "shop.pem", key: "shop.key" } as const;
const namesOf = (wanted: Parameters<typeof targetsOf>[0]) => targetsOf(wanted).map(({ names }) => names);

test("each name that we issue has a certificate of its own", () => {
  expect(namesOf([{ names: ["b.test", "a.test"], issuer: acme }])).toEqual([["a.test"], ["b.test"]]);
});

test("a name that is wanted twice has one certificate, of the first issuer", () => {
  const targets = targetsOf([
    { names: ["a.test"], issuer: internal },
    { names: ["a.test", "b.test"], issuer: acme },
  ]);
  expect(targets.map(({ names, issuer }) => [names[0], issuer.kind])).toEqual([
    ["a.test", "internal"],
    ["b.test", "acme"],
  ]);
});

test("a wildcard of the same issuer serves the names one label below it, and no others", () => {
  const dns = { ...acme, dnsPlugin: "dns" };
  const wildcard = { names: ["*.example.com"], issuer: dns };
  const names = ["example.com", "a.example.com", "a.b.example.com"];
  expect(namesOf([wildcard, { names, issuer: acme }])).toEqual([
    ["*.example.com"],
    ["a.b.example.com"],
    ["example.com"],
  ]);
  expect(namesOf([wildcard, { names: ["a.example.com"], issuer: internal }])).toHaveLength(2);
});

test("an own file is one certificate for all hosts that name it, whose id stays when hosts change", () => {
  const [target] = targetsOf([
    { names: ["b.test"], issuer: file },
    { names: ["a.test"], issuer: file },
  ]);
  expect(target?.names).toEqual(["a.test", "b.test"]);
  expect(targetsOf([{ names: ["c.test"], issuer: file }])[0]?.id).toBe(target?.id);
  expect(targetsOf([{ names: ["c.test"], issuer: { ...file, key: "other.key" } }])[0]?.id).not.toBe(target?.id);
});

test("another contact or challenge keeps the certificate, another directory does not", () => {
  expect(issuerKey({ ...acme, email: "a@b.test", dnsPlugin: "dns" })).toBe(issuerKey(acme));
  expect(issuerKey({ ...acme, directory: letsencryptStaging })).not.toBe(issuerKey(acme));
});

test("each wanted name has exactly one target that covers it by the issuer of its first wish, and no id repeats", () => {
  const name = fc.constantFrom("a.test", "*.a.test", "x.a.test", "y.a.test", "z.x.a.test", "b.test", "*.b.test");
  const issuer = fc.constantFrom(acme, internal, file, { ...acme, directory: letsencryptStaging });
  const wish = fc.record({ names: fc.array(name, { maxLength: 5 }), issuer });
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 6 }), (wanted) => {
      const targets = targetsOf(wanted);
      expect(new Set(targets.map(({ id }) => id)).size).toBe(targets.length);
      for (const host of new Set(wanted.flatMap(({ names }) => names))) {
        const first = wanted.find(({ names }) => names.includes(host));
        const own = targets.filter(({ names }) => names.includes(host));
        const by = targets.filter(({ names }) => names.some((one) => covers(one, host)));
        expect(own.length).toBeLessThanOrEqual(1);
        const key = first === undefined ? "" : issuerKey(first.issuer);
        expect((own.length === 1 ? own : by).map((target) => target.issuerKey)).toContain(key);
      }
    }),
  );
});

test("an account belongs to one directory, contact and external account", () => {
  const keys = [
    acme,
    { ...acme, email: "a@b.test" },
    { ...acme, directory: letsencryptStaging },
    { ...acme, eab: { keyId: "k", key: "x" } },
  ].map(accountKey);
  expect(new Set(keys).size).toBe(4);
  expect(accountKey({ ...acme, eab: { keyId: "k", key: "y" } })).toBe(
    accountKey({ ...acme, eab: { keyId: "k", key: "x" } }),
  );
});
