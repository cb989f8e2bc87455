import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { type Rig, rig } from "../support/rig.ts";

setDefaultTimeout(60_000);

let berth: Rig;
beforeEach(async () => {
  berth = await rig();
});
afterEach(() => berth?.close());

test("`berth ca` prints a root that the server keeps, also when it starts again", async () => {
  const { stdout, exitCode } = await berth.cli(["ca"]);
  expect(exitCode).toBe(0);
  const root = new X509Certificate(stdout);
  expect([root.ca, root.verify(root.publicKey)]).toEqual([true, true]);
  expect(root.subject).toStartWith(`CN=${berth.prefix} internal CA on `);
  await berth.stop();
  await berth.start();
  expect((await berth.cli(["ca"])).stdout).toBe(stdout);
});

test("`berth certs` works before there is any certificate, and says which ones cannot be renewed", async () => {
  expect((await berth.cli(["certs"])).stdout).toBe("no certificates: no ingress asks for one (tls)\n");
  const { exitCode, stderr } = await berth.cli(["certs", "renew", "shop.test"]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('no certificate for "shop.test"')]);
});
