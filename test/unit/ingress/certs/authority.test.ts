import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { createAuthority, issueLeaf } from "../../../../src/ingress/certs/authority.ts";
import { readPair } from "../../../../src/ingress/certs/pem.ts";

const now = Date.UTC(2026, 0, 1);
const day = 86_400_000;

test("a leaf is signed by its root, for its names, for 90 days", async () => {
  const authority = await createAuthority({ commonName: "berth internal CA", now });
  const leaf = await issueLeaf(authority, { names: ["shop.test", "*.shop.test"], now });
  const root = new X509Certificate(authority.certificate);
  const certificate = new X509Certificate(leaf.certificate);
  expect(certificate.verify(root.publicKey)).toBe(true);
  expect(certificate.checkIssued(root)).toBe(true);
  expect(root.ca).toBe(true);
  expect(certificate.ca).toBe(false);
  expect(readPair({ certificate: leaf.certificate, key: leaf.key })).toMatchObject({
    names: ["shop.test", "*.shop.test"],
    issuedBy: "berth internal CA",
    notAfter: now + 90 * day,
    notBefore: now - 3_600_000,
  });
});

test("two leaves have different keys and serial numbers", async () => {
  const authority = await createAuthority({ commonName: "ca", now });
  const one = await issueLeaf(authority, { names: ["a.test"], now });
  const two = await issueLeaf(authority, { names: ["a.test"], now });
  expect(one.key).not.toBe(two.key);
  expect(new X509Certificate(one.certificate).serialNumber).not.toBe(new X509Certificate(two.certificate).serialNumber);
});

test("a leaf ends with its root", async () => {
  const authority = await createAuthority({ commonName: "ca", now });
  const { notAfter } = readPair({ ...(await issueLeaf(authority, { names: ["a.test"], now: now + 3_600 * day })) });
  expect(notAfter).toBe(Date.parse(new X509Certificate(authority.certificate).validTo));
});

test("names that are longer than a subject may be are still covered", async () => {
  const authority = await createAuthority({ commonName: "c".repeat(100), now });
  const name = `${"a".repeat(60)}.${"b".repeat(60)}.test`;
  expect(readPair({ ...(await issueLeaf(authority, { names: [name], now })) }).names).toEqual([name]);
});

test("OpenSSL accepts the chain as that of a server", async () => {
  const authority = await createAuthority({ commonName: "ca", now: Date.now() });
  const leaf = await issueLeaf(authority, { names: ["a.test"], now: Date.now() });
  const folder = `${process.env.TMPDIR ?? "/tmp"}/berth-ca-${crypto.randomUUID()}`;
  await Bun.write(`${folder}/root.pem`, authority.certificate);
  await Bun.write(`${folder}/leaf.pem`, leaf.certificate);
  const checks = ["-x509_strict", "-purpose", "sslserver", "-verify_hostname", "a.test"];
  const result = Bun.spawnSync(["openssl", "verify", "-CAfile", `${folder}/root.pem`, ...checks, `${folder}/leaf.pem`]);
  expect(result.stderr.toString()).toBe("");
  expect(result.stdout.toString()).toEndWith("leaf.pem: OK\n");
});
