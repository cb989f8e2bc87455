import { expect, test } from "bun:test";
import { type Call, cli, stored } from "../../../support/cli.ts";

const web = "kind: ingress\nscope: shop\nname: web\nspec:\n  host: shop.test\n  tls: {}\n";
const certificate = (change: Record<string, unknown>) => ({
  ...{ id: "shop.test-1", names: ["shop.test"], issuer: "letsencrypt", state: "pending", issuing: false, failures: 0 },
  ...change,
});
const pending = [certificate({ issuing: true })];
const valid = [certificate({ state: "valid", issued_by: "Fake CA", not_after: "2026-04-01T00:00:00Z" })];
const failed = [certificate({ state: "failed", error: "dns: shop.test has no address", failures: 1 })];

/** Applies an ingress; `looks` are the certificates that the server shows, one look after the other. */
async function applied(
  looks: unknown[][],
  spec: Record<string, unknown> = { host: "shop.test", tls: {} },
  flags: string[] = [],
) {
  let count = 0;
  const server = (call: Call): unknown => {
    if (call.path === "/certificates") return { certificates: looks[Math.min(count++, looks.length - 1)] };
    if (call.path !== "/apply") return undefined;
    const plan = [{ ref: "ingress/shop/web", action: "create", changed: [], replicas: [], notes: [] }];
    const dry = call.query.dry_run === "true" ? { dry_run: true, current: [null], plan } : {};
    return { applied: [stored("ingress/shop/web", spec, 1)], pruned: [], ...dry };
  };
  const { code, err } = await cli(["apply", "-f", "-", "-y", ...flags], { stdin: web, server });
  return { code, err, looks: count };
}

test("an apply says when the certificate of a new host is there", async () => {
  const { code, err } = await applied([[], pending, pending, valid]);
  expect(err).toContain("… certificate of shop.test: waiting\n");
  expect(err).toContain("✓ certificate of shop.test: issued by Fake CA, valid until 2026-04-01\n");
  expect(code).toBe(0);
});

test("an apply says why there is no certificate, and does not fail", async () => {
  const { code, err, looks } = await applied([pending, failed]);
  expect(err).toContain(
    "✗ certificate of shop.test: dns: shop.test has no address\n  the server tries again; see: berth certs\n",
  );
  expect([code, looks]).toEqual([0, 2]);
});

test("the wait is bounded, and the server goes on", async () => {
  const { code, err } = await applied([pending]);
  expect(err).toContain("… certificate of shop.test: not issued yet, the server goes on; see: berth certs\n");
  expect(code).toBe(0);
});

test.each<[string, unknown[][], Record<string, unknown>, string[]]>([
  ["a certificate that was valid before", [valid], { host: "shop.test", tls: {} }, []],
  ["an ingress without TLS", [pending], { host: "shop.test" }, []],
  ["an ingress that a plugin routes", [pending], { host: "shop.test", tls: {}, plugin: "front" }, []],
  ["names that are issued on demand", [pending], { hosts: ["*", "*.shop.test"], tls: { on_demand: true } }, []],
  ["an apply that does not wait", [pending], { host: "shop.test", tls: {} }, ["--no-wait"]],
])("nothing is said of %s", async (_, looks, spec, flags) => {
  expect((await applied(looks, spec, flags)).err).not.toContain("certificate");
});

test("a server without an ingress knows no certificate: the wait for it is short", async () => {
  const { err, looks } = await applied([[]]);
  expect(err).not.toContain("issued");
  expect(looks).toBeLessThan(12);
});
