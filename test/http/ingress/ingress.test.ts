import { expect, test } from "bun:test";
import { Failure } from "../../../src/base/wire/failure.ts";
import { mountIngress } from "../../../src/ingress/http/mount.ts";
import type { IngressViews } from "../../../src/ingress/service/ingress-views.ts";
import { naming } from "../../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../../src/orchestration/http/app.ts";
import { ingressViews } from "../../support/ingress-views.ts";
import { createRecordingController } from "../../support/recording-controller.ts";
import { silentLog } from "../../support/silent-log.ts";

async function ask(views: IngressViews, method: string, path: string) {
  const unused = () => {
    throw new Error("not asked for");
  };
  const app = createOrchestrationApp({
    controller: createRecordingController().controller,
    mountOthers: (plane) =>
      mountIngress(plane, { certificates: { list: unused, renew: unused, authority: unused }, views }),
    version: "1",
    names: naming(),
    log: silentLog,
    limits: { jsonDepthMax: 64, eventsPageMax: 1_000, execInputBytesMax: 1_000, logPingMs: 25_000 },
  });
  const response = await app.fetch(new Request(`http://localhost${path}`, { method }));
  return { status: response.status, body: await response.json() };
}

test("GET /ingress answers with the proxy and the sites", async () => {
  const { status, body } = await ask(ingressViews().views, "GET", "/ingress");
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "ok", data: { proxy: { state: "running" }, sites: [{}, {}] } });
});

test("GET /ingress/traffic answers with the last minute", async () => {
  expect(await ask(ingressViews().views, "GET", "/ingress/traffic")).toEqual({
    status: 200,
    body: { status: "ok", data: { seconds: 60, sites: [], dropped: 0 } },
  });
});

test("GET /ingress/logs reads the filters, and refuses those that make no sense", async () => {
  const { views, calls } = ingressViews();
  expect((await ask(views, "GET", "/ingress/logs")).body).toEqual({ status: "ok", data: { entries: [] } });
  await ask(views, "GET", "/ingress/logs?ingress=shop/web&status=5xx&request_id=a&after=3&limit=7");
  const filter = '{"ingress":"shop/web","status":"5xx","requestId":"a","after":3}';
  expect(calls).toEqual(["access {} 100", `access ${filter} 7`]);
  for (const query of ["status=6xx", "limit=no", "after=-1"]) {
    expect((await ask(views, "GET", `/ingress/logs?${query}`)).status).toBe(400);
  }
});

test("POST /ingress/reload and /ingress/stop do what they say", async () => {
  const { views, calls } = ingressViews();
  expect((await ask(views, "POST", "/ingress/reload")).status).toBe(200);
  expect((await ask(views, "POST", "/ingress/stop")).status).toBe(200);
  // Ingresses of plugins as well.
  expect(calls).toEqual(["plugins", "reload", "stop"]);
});

test("a reload without a proxy is a 503 that says why", async () => {
  const reload = () => Promise.reject(new Failure("unavailable", "HAProxy is not installed"));
  const { views } = ingressViews({ ingress: { state: () => ({}) as never, reload, stop: reload } });
  expect(await ask(views, "POST", "/ingress/reload")).toEqual({
    status: 503,
    body: { status: "error", code: "unavailable", error: "HAProxy is not installed" },
  });
});
