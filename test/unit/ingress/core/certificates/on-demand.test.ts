import { describe, expect, test } from "bun:test";
import {
  hasOnDemand,
  onDemandRules,
  questionFor,
  ruleFor,
} from "../../../../../src/ingress/core/certificates/on-demand.ts";
import { ingress } from "../../../../support/ingress-input.ts";

const tls = { provider: "internal", on_demand: true, ask: "https://shop.test/ask" };
const rules = (...specs: Record<string, unknown>[]) =>
  onDemandRules(specs.map((spec, index) => ingress(`i${index}`, spec)));
const rule = { issuer: { kind: "internal" as const }, ask: "https://shop.test/ask" };

describe("which names have a rule", () => {
  const open = rules(
    { hosts: ["*.shop.test", "listed.shop.test"], tls, redirects: [{ from: "old.shop.test" }] },
    { host: "*.plain.shop.test", tls: { provider: "internal" } },
  );
  test.each([
    ["a.shop.test", true],
    ["b.a.shop.test", true],
    ["listed.shop.test", false],
    ["old.shop.test", false],
    ["a.plain.shop.test", false],
    ["shop.test", false],
    ["a.other.test", false],
    ["*.shop.test", false],
    ["A.shop.test", false],
    ["a..shop.test", false],
  ])("%s: %p", (name, has) => {
    expect(ruleFor(name, open)).toEqual(has ? rule : undefined);
  });

  test("with the host * every other name that can have a certificate", () => {
    const all = rules({ host: "*", tls }, { host: "*.shop.test", tls: {} });
    expect(ruleFor("customer.example", all)).toEqual(rule);
    for (const name of ["a.shop.test", "192.0.2.7", "localhost", ""]) expect(ruleFor(name, all)).toBeUndefined();
  });
});

test.each([
  [{ ...tls, on_demand: false }],
  [{ ...tls, ask: undefined }],
  [{ ...tls, ask: "not a url" }],
  [{ ...tls, enabled: false }],
  [{ ...tls, provider: "of the future" }],
  [{ ...tls, provider: "file", certificate: "/c.pem", key: "/k.pem" }],
])("no rule with %j", (stored) => {
  expect(hasOnDemand(rules({ host: "*", tls: stored }))).toBe(false);
});

test("the question keeps the query of the address and replaces a domain in it", () => {
  expect(questionFor("http://a.test/ask?key=1&domain=x", "b.test")).toBe("http://a.test/ask?key=1&domain=b.test");
});
