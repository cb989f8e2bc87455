import { afterEach, beforeEach, expect, test } from "bun:test";
import { createOrchestrationApp } from "../../../src/orchestration/http/app.ts";
import { naming } from "../../../src/orchestration/core/naming.ts";
import { ingressEndpoints } from "../../../src/ingress/api/endpoints.ts";
import { mountIngress } from "../../../src/ingress/http/mount.ts";
import { createCertificateViews } from "../../../src/ingress/service/certificate-views.ts";
import { type CertificateWorld, certificateWorld } from "../../support/certificates.ts";
import { ingressViews } from "../../support/ingress-views.ts";
import { createRecordingController } from "../../support/recording-controller.ts";
import { silentLog } from "../../support/silent-log.ts";

let world: CertificateWorld;
let ask: (method: string, path: string) => Promise<{ status: number; data: unknown; error: string | undefined }>;

beforeEach(async () => {
  world = await certificateWorld();
  const certificates = await world.start();
  certificates.wanted([
    { names: ["a.shop.test"], issuer: { kind: "internal" } },
    { names: ["b.shop.test"], issuer: world.acme },
  ]);
  const app = createOrchestrationApp({
    controller: createRecordingController().controller,
    mountOthers: (plane) =>
      mountIngress(plane, { certificates: createCertificateViews(certificates), views: ingressViews().views }),
    version: "1",
    names: naming(),
    log: silentLog,
    limits: { jsonDepthMax: 64, eventsPageMax: 1_000, execInputBytesMax: 1_000, logPingMs: 25_000 },
  });
  ask = async (method, path) => {
    const response = await app.fetch(new Request(`http://localhost${path}`, { method }));
    const { data, error } = (await response.json()) as { data: unknown; error: string | undefined };
    return { status: response.status, data, error };
  };
  await world.pass(60_000);
});
afterEach(() => world.stop());

test("the list shows expiry, the last error and the next try, and no key", async () => {
  const { status, data } = await ask("GET", "/certificates");
  expect(status).toBe(200);
  expect(JSON.stringify(data)).not.toContain("PRIVATE");
  expect(data).toMatchObject({
    certificates: [
      {
        ...{ names: ["a.shop.test"], issuer: "internal", state: "valid", issued_by: "berth internal CA", failures: 0 },
        ...{ not_before: "2025-12-31T23:00:00.000Z", not_after: "2026-04-01T00:00:00.000Z", issuing: false },
        renew_at: "2026-03-01T23:40:00.000Z",
      },
      {
        ...{ names: ["b.shop.test"], issuer: "ca.test", state: "failed" },
        error: "dns: b.shop.test does not resolve. Add a DNS record that points to this server: 192.0.2.1",
        next_try_at: expect.stringMatching(/^2026-01-01T00:0/),
      },
    ],
  });
});

test("a renewal begins at once; a name that no certificate is for is not found", async () => {
  const serial = async () => {
    const { data } = await ask("GET", "/certificates");
    return (data as { certificates: { serial?: string }[] }).certificates[0]?.serial;
  };
  const before = await serial();
  expect(await ask("POST", "/certificates/A.shop.test/renew")).toMatchObject({
    status: 200,
    data: { certificates: [{ names: ["a.shop.test"] }] },
  });
  await world.pass(1_000);
  expect(await serial()).not.toBe(before ?? "");
  expect(await ask("POST", "/certificates/x.test/renew")).toMatchObject({
    status: 404,
    error: 'no certificate for "x.test". See them with: berth certs',
  });
});

test("the root of the internal authority is shown with its fingerprint", async () => {
  const { status, data } = await ask("GET", "/certificates/authority");
  expect(status).toBe(200);
  expect(data).toEqual({
    certificate: expect.stringMatching(/^-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n$/),
    common_name: "berth internal CA",
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    not_after: "2036-01-01T00:00:00.000Z",
  });
});

test("every endpoint is mounted", async () => {
  for (const { method, path } of ingressEndpoints) {
    const { error = "" } = await ask(method, path.replaceAll(/:\w+/g, "x"));
    expect(error).not.toContain("does not exist, GET /openapi.json");
  }
});
