import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateLimits } from "../../src/config/certificate-limits.ts";
import { type Certificates, type CertificatesOptions, createCertificates } from "../../src/ingress/certs/create.ts";
import type { AcmeIssuer } from "../../src/ingress/core/certificates/wanted.ts";
import { direct } from "../../src/base/wire/outgoing.ts";
import { systemClock } from "../../src/base/words/clock.ts";
import { type CaddyCa, startCaddyCa } from "../support/caddy-ca.ts";
import { memoryCertificateStore } from "../support/certificates.ts";
import { type TestProxy, startTestProxy } from "../support/challenge-proxy.ts";
import { silentLog } from "../support/silent-log.ts";
import { waitFor } from "../support/wait.ts";

const address = "127.0.0.77";
const names = ["shop.test", "www.shop.test", "other.test"];
let folder: string;
let ca: CaddyCa;
let proxy: TestProxy;
let stopping: AbortController;
let done: Promise<void>;
let certificates: Certificates;
let acme: AcmeIssuer;
const store = memoryCertificateStore();

const pauses = { firstMs: 300, maxMs: 300 };
const options = (more: Partial<CertificatesOptions> = {}): CertificatesOptions => ({
  ...{ store, clock: systemClock, log: silentLog, random: Math.random, userAgent: "berth/test", commonName: "ca" },
  limits: { ...certificateLimits, checkPauses: pauses, orderPauses: pauses },
  fetch: direct,
  fetchPinned: direct,
  challenge: proxy.challenge,
  mayOrder: () => true,
  dns: () => {
    throw new Error("no test uses a plugin");
  },
  resolve: async () => [address],
  addresses: () => [address],
  readFile: () => Promise.reject(new Error("no test reads a file")),
  ask: () => Promise.reject(new Error("no test asks for permission")),
  onEvent: () => undefined,
  ...more,
});

function start(more: Partial<CertificatesOptions> = {}): void {
  stopping = new AbortController();
  certificates = createCertificates(options(more));
  done = certificates.run(stopping.signal);
}

async function restart(more: Partial<CertificatesOptions> = {}): Promise<void> {
  stopping.abort();
  await done;
  start(more);
}

const served = (count: number) =>
  waitFor(`${count} certificates: ${JSON.stringify(certificates.list())}`, () => {
    const current = certificates.current();
    return current.length === count ? current : undefined;
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-certs-"));
  proxy = await startTestProxy({ folder, address });
  ca = await startCaddyCa({ folder, address, names });
  acme = {
    ...{ kind: "acme", directory: ca.directory, email: "ops@shop.test", root: ca.root },
    ...{ eab: undefined, dnsPlugin: undefined, skipChecks: false },
  };
  start();
});

afterAll(async () => {
  stopping.abort();
  await done;
  await ca.stop();
  await proxy.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("caddy issues certificates over challenges that HAProxy answers, and HAProxy serves them", async () => {
  certificates.wanted([{ names: ["shop.test", "www.shop.test"], issuer: acme }]);
  const current = await served(2);
  expect(certificates.list().map(({ state, error }) => [state, error])).toEqual([
    ["valid", undefined],
    ["valid", undefined],
  ]);
  mkdirSync(join(folder, "certs"), { recursive: true });
  for (const { id, pem } of current) writeFileSync(join(folder, "certs", `${id}.pem`), pem, { mode: 0o600 });
  const secure = await startTestProxy({ folder, address, certificates: join(folder, "certs") });
  try {
    writeFileSync(join(folder, "root.pem"), ca.root);
    for (const name of ["shop.test", "www.shop.test"]) {
      const url = `https://${name}:8443/`;
      const flags = ["-sS", "--cacert", join(folder, "root.pem"), "--resolve", `${name}:8443:${address}`];
      const { stdout, stderr } = Bun.spawnSync(["curl", ...flags, url]);
      expect([stdout.toString(), stderr.toString()]).toEqual(["served", ""]);
    }
  } finally {
    await secure.stop();
  }
});

test("a renewal gives a new certificate under the same id", async () => {
  certificates.wanted([{ names: ["shop.test"], issuer: acme }]);
  const [before] = await served(1);
  certificates.renew("shop.test");
  const after = await waitFor("another certificate", () =>
    certificates.current().find(({ pem }) => pem !== before?.pem),
  );
  expect(after.id).toBe(before?.id ?? "");
});

test("without the root of the private CA its address is not believed", async () => {
  certificates.wanted([{ names: ["other.test"], issuer: { ...acme, root: undefined } }]);
  await waitFor("a failure", () => certificates.list()[0]?.error?.startsWith("ca: 127.0.0.77:9443: ") === true);
  certificates.wanted([{ names: ["other.test"], issuer: acme }]);
  await served(1);
});

test("a challenge that nobody answers is refused by caddy, with its reason", async () => {
  await restart({ challenge: { set: async () => undefined, clear: async () => undefined } });
  certificates.wanted([{ names: ["shop.test", "fresh.test"], issuer: acme }]);
  await waitFor(
    "the look before",
    () => certificates.list()[0]?.error?.startsWith("port 80: http://fresh.test") === true,
  );
  certificates.wanted([{ names: ["shop.test"], issuer: { ...acme, skipChecks: true } }]);
  certificates.renew("shop.test");
  await waitFor(
    "a refusal",
    () => certificates.list()[0]?.error?.startsWith("ca: shop.test was not proved: ") === true,
  );
  expect(certificates.current()).toHaveLength(1);
});

test("while caddy is down the old certificate serves, and once it is back it is renewed", async () => {
  await restart();
  certificates.wanted([{ names: ["other.test"], issuer: acme }]);
  const [before] = await served(1);
  await ca.stop();
  certificates.renew("other.test");
  const error = "ca: 127.0.0.77:9443: connection refused";
  await waitFor("a failure", () => certificates.list()[0]?.error === error);
  expect(certificates.current()).toEqual([before ?? { id: "", names: [], pem: "" }]);
  ca = await startCaddyCa({ folder, address, names });
  certificates.renew("other.test");
  await waitFor("another certificate", () => certificates.current().some(({ pem }) => pem !== before?.pem));
  expect(certificates.list()[0]?.error).toBeUndefined();
});
