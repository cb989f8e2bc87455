import { afterEach, beforeEach, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { readyPlaneTls } from "../../../src/local/plane-tls.ts";

let root: string;
let folder: string;
const now = Date.now();
const dayMs = 86_400_000;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "berth-plane-tls-"));
  folder = join(root, "tls");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const own = (at = now) => readyPlaneTls({ kind: "self-signed" }, { folder, now: at });

test("without TLS there is nothing to serve", async () => {
  expect(await readyPlaneTls({ kind: "off" }, { folder, now })).toBeUndefined();
});

test("a certificate of its own is made once, for this machine, and for its owner alone", async () => {
  const made = await own();
  const certificate = new X509Certificate(made?.cert ?? "");
  expect(certificate.checkHost("localhost")).toBe("localhost");
  expect(certificate.checkHost(hostname())).toBe(hostname());
  expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(certificate.ca).toBe(false);
  expect(made).toMatchObject({ selfSigned: true, fingerprint: certificate.fingerprint256 });
  expect(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, statSync(join(folder, name)).mode & 0o777]),
  ).toEqual([
    ["certificate.pem", 0o600],
    ["key.pem", 0o600],
  ]);
  expect((await own())?.fingerprint).toBe(made?.fingerprint ?? "");
});

test("it is made again a month before it expires", async () => {
  const made = await own();
  const late = (made?.expiresAt ?? 0) - 29 * dayMs;
  expect((await own(late))?.fingerprint).not.toBe(made?.fingerprint ?? "");
});

test("files are served as they are, with the chain in order", async () => {
  const made = await own();
  const [certificate, key] = [join(root, "a.pem"), join(root, "b.pem")];
  writeFileSync(certificate, made?.cert ?? "");
  writeFileSync(key, made?.key ?? "");
  const files = { kind: "files" as const, certificate, key };
  expect(await readyPlaneTls(files, { folder, now })).toMatchObject({
    selfSigned: false,
    fingerprint: made?.fingerprint ?? "",
  });
  const late = (made?.expiresAt ?? 0) + 1;
  await expect(readyPlaneTls(files, { folder, now: late })).rejects.toThrow("expired at");
});

test("what is wrong with the files is said with their names", async () => {
  const made = await own();
  const [certificate, key] = [join(root, "a.pem"), join(root, "b.pem")];
  const ready = () => readyPlaneTls({ kind: "files", certificate, key }, { folder, now });
  await expect(ready()).rejects.toThrow(`"${certificate}" does not exist`);
  writeFileSync(certificate, "nothing");
  writeFileSync(key, made?.key ?? "");
  await expect(ready()).rejects.toThrow(`${certificate} and ${key}: certificate: none found`);
  rmSync(folder, { recursive: true });
  writeFileSync(certificate, (await own())?.cert ?? "");
  await expect(ready()).rejects.toThrow("key: does not belong to the certificate");
});
