import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHmac, X509Certificate } from "node:crypto";
import { certificateLimits } from "../../../../src/config/certificate-limits.ts";
import { createAuthority, issueLeaf } from "../../../../src/ingress/certs/authority.ts";
import type { WantedCertificate } from "../../../../src/ingress/core/certificates/wanted.ts";
import { type CertificateWorld, certificateWorld } from "../../../support/certificates.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const internal = { kind: "internal" } as const;
let world: CertificateWorld;

beforeEach(async () => {
  world = await certificateWorld();
});
afterEach(() => world.stop());

const shop = ["shop.test"];
const ordersOf = () => world.ca.orders.length;

test("an ACME certificate is issued, served, stored and announced", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  const certificates = await world.start();
  let changes = 0;
  certificates.onChange(() => {
    changes += 1;
  });
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(minute);
  const [served] = certificates.current();
  expect(served?.names).toEqual(shop);
  expect(new X509Certificate(served?.pem ?? "").checkHost("shop.test")).toBe("shop.test");
  expect(served?.pem).toMatch(
    /^(-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n){2}-----BEGIN PRIVATE KEY-----/,
  );
  expect(changes).toBe(1);
  expect(world.events.map(({ type, text }) => [type, text])).toEqual([
    ["issued", "certificate for shop.test by Fake CA, valid until 2026-04-01T00:00:00.000Z"],
  ]);
  expect(certificates.list()).toMatchObject([
    { names: shop, issuer: "ca.test", state: "valid", issuedBy: "Fake CA", failures: 0, error: undefined },
  ]);
  expect(world.answers.size).toBe(0);
  expect(world.ca.accounts).toEqual([{ termsOfServiceAgreed: true, contact: ["mailto:ops@shop.test"] }]);
});

test("while nothing may be ordered, our own certificates are made and others wait", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  let mayOrder = false;
  const certificates = await world.start({ mayOrder: () => mayOrder });
  certificates.wanted([
    { names: shop, issuer: world.acme },
    { names: ["inside.test"], issuer: internal },
  ]);
  await world.pass(day);
  expect([ordersOf(), world.ca.accounts]).toEqual([0, []]);
  expect(certificates.current().map(({ names }) => names)).toEqual([["inside.test"]]);
  expect(certificates.list().find(({ names }) => names.includes("shop.test"))).toMatchObject({ failures: 0 });
  mayOrder = true;
  await world.pass(2 * day);
  expect(ordersOf()).toBe(1);
});

test("a server that starts again serves what it had and orders nothing", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  const before = await world.start();
  before.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(minute);
  const after = await world.start();
  after.wanted([{ names: shop, issuer: world.acme }]);
  expect(after.current()).toEqual(before.current());
  await world.pass(day);
  expect(ordersOf()).toBe(1);
});

test("a certificate is renewed at two thirds of its life, under the same id, with the same account", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  const certificates = await world.start();
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(59 * day);
  expect(ordersOf()).toBe(1);
  const [old] = certificates.current();
  await world.pass(2 * day);
  expect(ordersOf()).toBe(2);
  expect(certificates.current()[0]?.id).toBe(old?.id ?? "");
  expect(certificates.current()[0]?.pem).not.toBe(old?.pem ?? "");
  expect(world.ca.accounts).toHaveLength(1);
  expect(world.events.map(({ type }) => type)).toEqual(["issued", "renewed"]);
});

test("while the CA is down the old certificate serves, tries become rare, and the failure is announced once", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  const certificates = await world.start();
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(hour);
  const old = certificates.current();
  world.ca.interfere = () => {
    throw Object.assign(new Error("refused"), { code: "ConnectionRefused" });
  };
  await world.pass(61 * day);
  const asked = world.ca.requests.length;
  await world.pass(day);
  expect(world.ca.requests.length - asked).toBeGreaterThan(10);
  expect(world.ca.requests.length - asked).toBeLessThan(24 * 9);
  expect(certificates.current()).toEqual(old);
  expect(certificates.list()[0]).toMatchObject({ state: "valid", error: "ca: ca.test: connection refused" });
  expect(world.events.map(({ type }) => type)).toEqual(["issued", "failed"]);
  world.ca.interfere = () => undefined;
  await world.pass(hour);
  expect(certificates.list()[0]).toMatchObject({ error: undefined, failures: 0 });
  expect(certificates.current()).not.toEqual(old);
});

test("a CA that is too busy is left alone for as long as it asks, by every name of the account", async () => {
  for (const name of ["a.test", "b.test", "c.test", "d.test", "e.test", "f.test"]) {
    world.addresses.set(name, ["192.0.2.1"]);
  }
  const certificates = await world.start();
  const headers = { "Retry-After": "7200", "Content-Type": "application/problem+json" };
  const problem = { type: "urn:ietf:params:acme:error:rateLimited", detail: "too many\u001b[31m orders" };
  world.ca.interfere = (_, path) =>
    path === "/order" ? new Response(JSON.stringify(problem), { status: 429, headers }) : undefined;
  certificates.wanted([{ names: [...world.addresses.keys()], issuer: world.acme }]);
  await world.pass(minute);
  const asked = world.ca.requests.filter((request) => request === "POST /order").length;
  expect(asked).toBeLessThanOrEqual(4);
  await world.pass(115 * minute);
  expect(world.ca.requests.filter((request) => request === "POST /order")).toHaveLength(asked);
  expect(certificates.list()[0]?.error).toBe("ca: rate limit: too many [31m orders");
  world.ca.interfere = () => undefined;
  await world.pass(20 * minute);
  expect(certificates.list().map(({ state }) => state)).toEqual(Array(6).fill("valid"));
});

test("no loop exceeds the budget: a CA whose certificates are refused here is asked four times a week", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  world.ca.lifeMs = -day;
  const certificates = await world.start();
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  for (let n = 0; n < 40; n += 1) {
    certificates.renew("shop.test");
    await world.pass(2 * hour);
  }
  expect(ordersOf()).toBe(4);
  expect(certificates.list()[0]?.error).toStartWith("budget: 4 orders for shop.test within 7 days are used up");
  const again = await world.start();
  again.wanted([{ names: shop, issuer: world.acme }]);
  again.renew("shop.test");
  await world.pass(hour);
  expect(ordersOf()).toBe(4);
});

test("a CA that wants a certificate renewed, as when it revokes it, is obeyed, and told what is replaced", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  const now = world.clock.now();
  world.ca.window = { start: now + 60 * day, end: now + 61 * day };
  const certificates = await world.start();
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(day);
  expect(certificates.list()[0]?.renewAt).toBe(now + 60 * day);
  expect(world.ca.orders[0]).not.toHaveProperty("replaces");
  world.ca.window = { start: now - day, end: now };
  world.ca.interfere = (_, path) => {
    if (path === "/order") world.ca.window = { start: now + 60 * day, end: now + 61 * day };
    return undefined;
  };
  await world.pass(12 * hour);
  expect(ordersOf()).toBe(2);
  expect(world.ca.orders[1]?.replaces).toMatch(/^[\w-]{20,}\.[\w-]+$/);
});

test("a CA that wants every new certificate renewed at once gets no more orders than the budget has", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  world.ca.window = { start: world.clock.now() - day, end: world.clock.now() };
  const certificates = await world.start();
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(6 * day);
  expect(ordersOf()).toBe(4);
  expect(certificates.current()).toHaveLength(1);
});

test("nothing is ordered while the clock of the server is wrong, and nothing is when it jumps", async () => {
  const names = Array.from({ length: 12 }, (_, n) => `n${n}.test`);
  for (const name of names) world.addresses.set(name, ["192.0.2.1"]);
  const certificates = await world.start();
  certificates.wanted([{ names, issuer: world.acme }]);
  await world.pass(hour);
  expect(ordersOf()).toBe(12);
  const real = world.clock.now();
  world.ca.now = () => real;
  world.clock.jump(300 * day);
  await world.pass(6 * hour);
  expect(ordersOf()).toBe(12);
  expect(certificates.list()[0]).toMatchObject({
    state: "expired",
    error: expect.stringMatching(
      /^clock: this server says 2026-10-\S+, the CA says 2026-01-01T01:\S+. Set the clock right$/,
    ),
  });
  expect(certificates.current()).toHaveLength(12);
  world.clock.jump(-300 * day - 6 * hour);
  world.ca.now = () => world.clock.now();
  await world.pass(day);
  expect(ordersOf()).toBe(12);
  expect(certificates.list().map(({ state }) => state)).toEqual(Array(12).fill("valid"));
});

test("a name that does not lead here is not ordered; once it does, it is issued soon", async () => {
  const certificates = await world.start();
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(minute);
  const error = "dns: shop.test does not resolve. Add a DNS record that points to this server: 192.0.2.1";
  expect(certificates.list()[0]).toMatchObject({ state: "failed", error });
  expect(ordersOf()).toBe(0);
  world.addresses.set("shop.test", ["192.0.2.1"]);
  await world.pass(10 * minute);
  expect(certificates.list()[0]?.state).toBe("valid");
  expect(world.events.map(({ type }) => type)).toEqual(["failed", "issued"]);
});

test("a changed setting is tried at once, without waiting for the pause", async () => {
  const certificates = await world.start();
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(3 * minute);
  certificates.wanted([{ names: shop, issuer: { ...world.acme, skipChecks: true } }]);
  await world.pass(3_000);
  expect(certificates.list()[0]?.state).toBe("valid");
});

test("a challenge that fails is told with the words of the CA", async () => {
  const certificates = await world.start({ challenge: { set: async () => undefined, clear: async () => undefined } });
  certificates.wanted([{ names: shop, issuer: { ...world.acme, skipChecks: true } }]);
  await world.pass(minute);
  expect(certificates.list()[0]?.error).toBe("ca: shop.test was not proved: nothing for token at shop.test");
});

test("a wildcard is proved by a TXT record of a plugin, and needs one", async () => {
  const certificates = await world.start();
  const names = ["*.shop.test"];
  certificates.wanted([{ names, issuer: world.acme }]);
  await world.pass(minute);
  expect(certificates.list()[0]?.error).toBe(
    "tls: *.shop.test is a wildcard, which needs DNS-01. Set tls.dns to a plugin",
  );
  certificates.wanted([{ names: [...names, "a.shop.test"], issuer: { ...world.acme, dnsPlugin: "dns" } }]);
  await world.pass(minute);
  expect(certificates.current().map((one) => one.names)).toEqual([names]);
  expect(world.txt.size).toBe(0);
});

test("a CA that speaks another protocol is told in words", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  const certificates = await world.start();
  world.ca.interfere = (_, path) => (path === "/directory" ? Response.json({ hello: "world" }) : undefined);
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(minute);
  expect(certificates.list()[0]?.error).toBe('ca: Unable to locate API resource URL in ACME directory: "newAccount"');
});

test("an account that the CA has forgotten is made again", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  const certificates = await world.start();
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(hour);
  let refused = 0;
  const problem = { type: "urn:ietf:params:acme:error:accountDoesNotExist", detail: "who" };
  const headers = { "Content-Type": "application/problem+json" };
  world.ca.interfere = (_, path) =>
    path === "/order" && refused++ === 0 ? new Response(JSON.stringify(problem), { status: 400, headers }) : undefined;
  certificates.renew("shop.test");
  await world.pass(minute);
  expect(world.ca.accounts).toHaveLength(2);
  expect(world.ca.issued).toBe(2);
});

test("an account is bound to the one that the operator has at the CA, and each binding has an account", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  const certificates = await world.start();
  const eab = { keyId: "kid-1", key: Buffer.from("hush").toString("base64url") };
  certificates.wanted([{ names: shop, issuer: { ...world.acme, email: undefined, eab } }]);
  await world.pass(hour);
  const [account] = world.ca.accounts;
  expect(account).toMatchObject({ termsOfServiceAgreed: true });
  expect(account).not.toHaveProperty("contact");
  const binding = account?.externalAccountBinding as Record<"protected" | "payload" | "signature", string>;
  expect(JSON.parse(Buffer.from(binding.protected, "base64url").toString())).toMatchObject({
    alg: "HS256",
    kid: "kid-1",
  });
  const mac = createHmac("sha256", "hush").update(`${binding.protected}.${binding.payload}`).digest("base64url");
  expect(binding.signature).toBe(mac);
  certificates.wanted([{ names: shop, issuer: { ...world.acme, eab: { ...eab, keyId: "kid-2" } } }]);
  certificates.renew("shop.test");
  await world.pass(hour);
  expect(world.ca.accounts).toHaveLength(2);
});

test("of many that are due, those that end first are renewed first, a few at a time", async () => {
  const names = ["c.test", "a.test", "b.test", "d.test", "e.test", "f.test"];
  for (const name of names) world.addresses.set(name, ["192.0.2.1"]);
  const certificates = await world.start({ limits: { ...certificateLimits, lookMs: day, inFlightMax: 1 } });
  const wanted: WantedCertificate[] = [];
  for (const name of names) {
    wanted.push({ names: [name], issuer: world.acme });
    certificates.wanted(wanted);
    await world.pass(hour);
  }
  await world.stop();
  world.clock.moveTo(world.clock.steady() + 80 * day);
  const again = await world.start({ limits: { ...certificateLimits, lookMs: day, inFlightMax: 1 } });
  again.wanted(wanted);
  await world.pass(hour);
  const order = world.ca.orders.slice(6).map(({ identifiers }) => (identifiers as { value: string }[])[0]?.value);
  expect(order).toEqual(names);
});

test("internal certificates share one authority, which outlives the server", async () => {
  const certificates = await world.start();
  certificates.wanted([{ names: ["a.test", "b.test", "*.a.test"], issuer: internal }]);
  await world.pass(minute);
  const root = new X509Certificate(await certificates.root());
  const served = certificates.current();
  expect(served.map(({ names }) => names)).toEqual([["*.a.test"], ["a.test"], ["b.test"]]);
  for (const { pem } of served) expect(new X509Certificate(pem).verify(root.publicKey)).toBe(true);
  const after = await world.start();
  expect(await after.root()).toBe(root.toString());
  expect(world.ca.requests).toEqual([]);
});

test("an own file is read again when it changes; a bad one leaves the old one serving, with its fault", async () => {
  const issuer = { kind: "file", certificate: "shop.pem", key: "shop.pem" } as const;
  const authority = await createAuthority({ commonName: "Own CA", now: world.clock.now() });
  const put = async (names: string[]) => {
    const { certificate, key } = await issueLeaf(authority, { names, now: world.clock.now() });
    world.files.set("shop.pem", `${certificate}${key}`);
  };
  await put(shop);
  const certificates = await world.start();
  certificates.wanted([{ names: shop, issuer }]);
  await world.pass(1_000);
  const [first] = certificates.current();
  expect(first?.names).toEqual(shop);
  world.files.set("shop.pem", "rubbish");
  await world.pass(2 * minute);
  expect(certificates.current()).toEqual([first ?? { id: "", names: [], pem: "" }]);
  expect(certificates.list()[0]).toMatchObject({
    state: "valid",
    error: expect.stringMatching(/^certificate "shop.pem" and key .* are not PEM files that the server can read/),
  });
  await put([...shop, "www.shop.test"]);
  certificates.wanted([{ names: [...shop, "www.shop.test"], issuer }]);
  await world.pass(2 * minute);
  expect(certificates.current()).toMatchObject([{ id: first?.id, names: ["shop.test", "www.shop.test"] }]);
  expect(certificates.list()[0]?.error).toBeUndefined();
});

test("after a change of issuer the old certificate serves until the new one is there", async () => {
  const certificates = await world.start();
  certificates.wanted([{ names: shop, issuer: internal }]);
  await world.pass(minute);
  const before = certificates.current();
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(minute);
  expect(certificates.current()).toEqual(before);
  world.addresses.set("shop.test", ["192.0.2.1"]);
  await world.pass(hour);
  expect(certificates.current()[0]?.id).not.toBe(before[0]?.id ?? "");
});

test("a host that comes back within the life of its certificate needs no new order; long after, it is forgotten", async () => {
  world.addresses.set("shop.test", ["192.0.2.1"]);
  const certificates = await world.start();
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  await world.pass(hour);
  certificates.wanted([]);
  expect(certificates.current()).toEqual([]);
  await world.pass(30 * day);
  certificates.wanted([{ names: shop, issuer: world.acme }]);
  expect(certificates.current()).toHaveLength(1);
  certificates.wanted([]);
  await world.pass(70 * day);
  expect([...world.store.texts.keys()].filter((key) => key.startsWith("certificate "))).toEqual([]);
});

test("a full disk keeps no new certificate from serving", async () => {
  const certificates = await world.start();
  await certificates.root();
  world.store.fails = true;
  certificates.wanted([{ names: shop, issuer: internal }]);
  await world.pass(minute);
  expect(certificates.current()).toHaveLength(1);
});

test("a name without a certificate cannot be renewed; one below a wildcard renews the wildcard", async () => {
  const certificates = await world.start();
  certificates.wanted([{ names: ["*.shop.test"], issuer: internal }]);
  await world.pass(minute);
  expect(() => certificates.renew("shop.test")).toThrow('no certificate for "shop.test"');
  const before = certificates.current();
  certificates.renew("a.shop.test");
  await world.pass(1_000);
  expect(certificates.current()).not.toEqual(before);
});
