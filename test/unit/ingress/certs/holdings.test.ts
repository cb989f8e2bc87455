import { expect, test } from "bun:test";
import { createHoldings, type Held, servedOf } from "../../../../src/ingress/certs/holdings.ts";
import type { Target } from "../../../../src/ingress/core/certificates/wanted.ts";
import { memoryCertificateStore } from "../../../support/certificates.ts";

const held = (id: string, names: string[], notAfter = 100): Held => ({
  ...{ id, names, issuerKey: "internal", chain: `chain ${id}\n`, key: "key\n", notBefore: 0, notAfter },
  ...{ issuedBy: "ca", serial: id, random: 0, renewAt: 50 },
});
const target = (id: string, ...names: string[]): Target => ({
  ...{ id, names, issuer: { kind: "internal" }, issuerKey: "internal" },
});

async function served(targets: Target[], certificates: Held[], now = 10) {
  const holdings = createHoldings(memoryCertificateStore(), { now: () => 10 });
  for (const one of certificates) await holdings.keep(one);
  return servedOf(targets, holdings, now).map(({ id, names }) => [id, ...names]);
}

test("each target is served with its own certificate, in the order of the ids", async () => {
  const targets = [target("b", "b.test"), target("a", "a.test")];
  expect(await served(targets, [held("b", ["b.test"]), held("a", ["a.test"])])).toEqual([
    ["a", "a.test"],
    ["b", "b.test"],
  ]);
});

test("an expired certificate of its own is served on: another one is no better for its visitors", async () => {
  expect(await served([target("a", "a.test")], [held("a", ["a.test"], 5)])).toEqual([["a", "a.test"]]);
});

test("a host whose own is missing gets another that covers it and is valid longest", async () => {
  const others = [held("old", ["a.x.test"], 20), held("wild", ["*.x.test"], 90), held("new", ["a.x.test"], 30)];
  expect(await served([target("t", "a.x.test")], others)).toEqual([["new", "a.x.test"]]);
  expect(await served([target("t", "b.x.test"), target("u", "c.x.test")], others)).toEqual([
    ["wild", "b.x.test", "c.x.test"],
  ]);
  expect(await served([target("t", "a.x.test")], [held("old", ["a.x.test"], 5)])).toEqual([]);
  expect(await served([target("t", "a.b.x.test"), target("u", "*.y.test"), target("v", "x.test")], others)).toEqual([]);
});

test("a certificate whose names no longer cover a host serves the hosts that it covers", async () => {
  expect(await served([target("f", "a.test", "b.test")], [held("f", ["a.test"])])).toEqual([["f", "a.test"]]);
});

test("a thousand hosts without certificates cost next to nothing beside ten thousand certificates", async () => {
  const holdings = createHoldings(memoryCertificateStore(), { now: () => 10 });
  for (let n = 0; n < 10_000; n += 1) await holdings.keep(held(`h${n}`, [`h${n}.test`]));
  const targets = Array.from({ length: 1_000 }, (_, n) => target(`m${n}`, `m${n}.test`));
  const began = performance.now();
  expect(servedOf(targets, holdings, 10)).toEqual([]);
  expect(performance.now() - began).toBeLessThan(1_000);
});

test("a failure that a clock ahead has dated holds up nothing, and is not shown", async () => {
  let now = 1_000;
  const holdings = createHoldings(memoryCertificateStore(), { now: () => now });
  await holdings.failed("a", { failures: 3, error: "ca: the clock is wrong", failedAt: 1_000, nextTryAt: 2_000 });
  expect(holdings.attempt("a")?.failures).toBe(3);
  now = 10;
  expect(holdings.attempt("a")).toBeUndefined();
});
