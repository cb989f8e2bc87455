import { afterEach, beforeEach, expect, test } from "bun:test";
import { certificateLimits } from "../../../../src/config/certificate-limits.ts";
import type { Certificates } from "../../../../src/ingress/certs/create.ts";
import type { OnDemandRules } from "../../../../src/ingress/core/certificates/on-demand.ts";
import { type CertificateWorld, certificateWorld } from "../../../support/certificates.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const ask = "http://127.0.0.1:9/ask";
const client = "192.0.2.50";
let world: CertificateWorld;
let rules: OnDemandRules;

beforeEach(async () => {
  world = await certificateWorld();
  rules = new Map([["*", { issuer: world.acme, ask }]]);
});
afterEach(() => world.stop());

const never = () => new AbortController().signal;
const visit = (certificates: Certificates, name: string, from = client) => certificates.demand(name, from, never());
/** A name that leads here and has permission. */
function allow(name: string): void {
  world.addresses.set(name, ["192.0.2.1"]);
  world.permissions.set(name, 200);
}

async function start(more: Parameters<CertificateWorld["start"]>[0] = {}): Promise<Certificates> {
  const certificates = await world.start(more);
  certificates.wanted([], rules);
  return certificates;
}

test("the first visitor waits for the certificate, which others find there; one question and one order", async () => {
  allow("one.test");
  const certificates = await start();
  const visits = Promise.all([visit(certificates, "one.test"), visit(certificates, "one.test", "192.0.2.51")]);
  await world.pass(minute);
  expect(await visits).toEqual([true, true]);
  expect(certificates.current().map(({ names }) => names)).toEqual([["one.test"]]);
  expect(await visit(certificates, "one.test")).toBe(true);
  expect([world.asked, world.ca.orders.length]).toEqual([[`${ask}?domain=one.test`], 1]);
});

test("a refused name is not ordered, and not asked about again for a minute", async () => {
  world.permissions.set("moved.test", 302);
  const certificates = await start();
  for (const name of ["no.test", "no.test", "moved.test"]) expect(await visit(certificates, name)).toBe(false);
  expect([world.asked.length, world.ca.orders.length, certificates.list()]).toEqual([2, 0, []]);
  await world.pass(minute);
  allow("no.test");
  const later = visit(certificates, "no.test");
  await world.pass(minute);
  expect(await later).toBe(true);
});

test("a question without an answer is a no, and asked again after a short time", async () => {
  allow("one.test");
  let isDown = true;
  let questions = 0;
  const certificates = await start({
    async ask() {
      questions += 1;
      if (isDown) throw new Error("connection refused");
      return 200;
    },
  });
  expect([await visit(certificates, "one.test"), await visit(certificates, "one.test")]).toEqual([false, false]);
  expect(questions).toBe(1);
  isDown = false;
  await world.pass(certificateLimits.onDemand.failedMs);
  const later = visit(certificates, "one.test");
  await world.pass(minute);
  expect(await later).toBe(true);
});

test("a flood of names from one client is asked about only a few times, and harms no certificate", async () => {
  allow("one.test");
  const certificates = await start();
  const first = visit(certificates, "one.test", "192.0.2.60");
  await world.pass(minute);
  expect(await first).toBe(true);
  const flood = Array.from({ length: 200 }, (_, index) => visit(certificates, `r${index}.test`));
  expect(new Set(await Promise.all(flood))).toEqual(new Set([false]));
  expect(world.asked).toHaveLength(1 + certificateLimits.onDemand.perClientPerMinute);
  expect(certificates.current().map(({ names }) => names)).toEqual([["one.test"]]);
});

test("a certificate that cannot be issued fails the visitor at once while the server waits for its next try", async () => {
  world.permissions.set("elsewhere.test", 200);
  const certificates = await start();
  const first = visit(certificates, "elsewhere.test");
  await world.pass(0);
  expect(await first).toBe(false);
  expect(certificates.list()).toMatchObject([{ names: ["elsewhere.test"], state: "failed", isOnDemand: true }]);
  expect(await visit(certificates, "elsewhere.test")).toBe(false);
  expect(world.asked).toHaveLength(1);
});

test("names survive a restart; without their ingress they have no certificate", async () => {
  allow("one.test");
  const before = await start();
  const first = visit(before, "one.test");
  await world.pass(minute);
  await first;
  const after = await start();
  expect(after.current()).toEqual(before.current());
  after.wanted([], new Map());
  expect([after.current(), await visit(after, "one.test")]).toEqual([[], false]);
  after.wanted([], rules);
  expect(after.current()).toEqual(before.current());
});

test("a name is renewed while it has permission; without it the old certificate serves until its end", async () => {
  allow("one.test");
  const certificates = await start();
  const first = visit(certificates, "one.test");
  await world.pass(minute);
  await first;
  await world.pass(70 * day);
  expect([world.ca.orders.length, world.asked.length]).toEqual([2, 2]);
  world.permissions.delete("one.test");
  await world.pass(51 * day);
  expect(world.ca.orders).toHaveLength(2);
  expect(certificates.current()).toHaveLength(1);
  expect(certificates.list()[0]?.error).toBe(
    `ask: ${ask} did not permit one.test: it has to answer with 200; the log of the server says what came`,
  );
});

test("the names are bounded: those without a certificate go first, and a certificate never makes room", async () => {
  const limits = { ...certificateLimits, lookMs: day, onDemand: { ...certificateLimits.onDemand, namesMax: 2 } };
  for (const name of ["one.test", "three.test", "four.test"]) allow(name);
  world.permissions.set("two.test", 200);
  const certificates = await start({ limits });
  const visits = Promise.all(["one.test", "two.test"].map((name) => visit(certificates, name)));
  await world.pass(minute);
  expect(await visits).toEqual([true, false]);
  expect(await visit(certificates, "three.test")).toBe(false);
  await world.pass(hour);
  const third = visit(certificates, "three.test");
  await world.pass(minute);
  expect(await third).toBe(true);
  expect(await visit(certificates, "four.test")).toBe(false);
  expect(certificates.current().flatMap(({ names }) => names)).toEqual(["one.test", "three.test"]);
});

test("our own CA issues on demand as well", async () => {
  world.permissions.set("one.test", 200);
  rules = new Map([["*.test", { issuer: { kind: "internal" }, ask }]]);
  const certificates = await start();
  const first = visit(certificates, "one.test");
  await world.pass(minute);
  expect([await first, world.ca.orders.length]).toEqual([true, 0]);
});

test("a visitor that leaves no longer waits, and the certificate still comes", async () => {
  allow("one.test");
  const certificates = await start();
  const left = new AbortController();
  const first = certificates.demand("one.test", client, left.signal);
  left.abort();
  expect(await first).toBe(false);
  await world.pass(minute);
  expect(certificates.current()).toHaveLength(1);
});

test("what was refused while the clock was a year ahead is asked about again a minute later", async () => {
  const certificates = await start();
  world.clock.jump(366 * day);
  expect(await visit(certificates, "one.test")).toBe(false);
  world.clock.jump(-366 * day);
  allow("one.test");
  await world.pass(2 * minute);
  const later = visit(certificates, "one.test");
  await world.pass(minute);
  expect(await later).toBe(true);
});

test("names that were permitted while the clock was a year ahead make room for others", async () => {
  world.permissions.set("early.test", 200);
  const certificates = await start({
    limits: { ...certificateLimits, onDemand: { ...certificateLimits.onDemand, namesMax: 1 } },
  });
  world.clock.jump(366 * day);
  const early = visit(certificates, "early.test");
  await world.pass(minute);
  expect(await early).toBe(false);
  world.clock.jump(-366 * day);
  allow("one.test");
  const later = visit(certificates, "one.test");
  await world.pass(minute);
  expect(await later).toBe(true);
});
