import { expect, test } from "bun:test";
import type { CertificateView } from "../../../../src/ingress/api/certificates.ts";
import { cli } from "../../../support/cli.ts";

const valid: CertificateView = {
  ...{ id: "a", names: ["shop.test"], issuer: "letsencrypt", state: "valid", issuing: false, failures: 0 },
  ...{ issued_by: "R11", not_after: "2026-03-02T00:00:00.000Z", renew_at: "2026-02-01T00:00:00.000Z" },
};
const failed: CertificateView = {
  ...{ id: "b", names: ["*.shop.test"], issuer: "letsencrypt", state: "failed", issuing: false, failures: 2 },
  ...{ error: "dns: no\u001b[2J record", next_try_at: "2026-01-02T00:05:00.000Z" },
};
const server = () => ({ certificates: [valid, failed] });

test("certs lists state, expiry, issuer and what comes next, then the faults", async () => {
  const { out, code, calls } = await cli(["certs"], { server });
  expect(code).toBe(0);
  expect(calls).toMatchObject([{ method: "GET", path: "/certificates" }]);
  const [head, first, second, fault] = out.split("\n");
  expect(head?.split(/ {2,}/)).toEqual(["NAME", "STATE", "EXPIRES", "ISSUER", "NEXT"]);
  expect(first?.split(/ {2,}/)).toEqual(["shop.test", "valid", "2026-03-02 (59d)", "R11", "renew in 30d"]);
  expect(second?.split(/ {2,}/)).toEqual(["*.shop.test", "failed", "-", "letsencrypt", "try in 5m"]);
  expect(fault).toStartWith("✗ *.shop.test: dns: no");
  expect(out).not.toContain("\u001b");
});

test("a certificate that is being renewed, or has expired, is shown so", async () => {
  const others = [
    { ...valid, issuing: true },
    { ...valid, state: "expired", not_after: "2026-01-01T00:00:00.000Z", renew_at: undefined },
  ];
  const { out } = await cli(["certs", "list"], { server: () => ({ certificates: others }) });
  expect(out).toContain("renewing");
  expect(out).toContain("2026-01-01 (24h ago)");
});

test("without any it says so; -o json is the answer itself", async () => {
  const none = () => ({ certificates: [] });
  expect((await cli(["certs"], { server: none })).out).toBe("no certificates: no ingress asks for one (tls)\n");
  expect(JSON.parse((await cli(["certs", "-o", "json"], { server })).out)).toEqual({ status: "ok", data: server() });
});

test("certs renew asks for one name", async () => {
  const { out, calls } = await cli(["certs", "renew", "shop.test"], { server: () => ({ certificates: [valid] }) });
  expect(calls).toMatchObject([{ method: "POST", path: "/certificates/shop.test/renew" }]);
  expect(out).toBe("renewing shop.test; see: berth certs\n");
});

test.each([[["certs", "renew"]], [["certs", "renew", "a", "b"]], [["certs", "drop"]], [["certs", "list", "a"]]])(
  "%p is a usage error",
  async (argv) => {
    expect(await cli(argv, { server })).toMatchObject({ code: 2, calls: [] });
  },
);
