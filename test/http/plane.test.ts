import { afterEach, expect, test } from "bun:test";
import { type ClientFetch, createClient } from "../../src/base/wire/client.ts";
import { apply } from "../../src/orchestration/api/apply.ts";
import { health } from "../../src/orchestration/api/health.ts";
import { getPod } from "../../src/orchestration/api/pods.ts";
import { limits } from "../../src/config/config.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { startTestFront, type TestFront } from "../support/front.ts";
import { createRecordingController, webManifest } from "../support/recording-controller.ts";
import { silentLog } from "../support/silent-log.ts";

let front: TestFront | undefined;
afterEach(async () => {
  await front?.close();
  front = undefined;
});

/** The plane as it runs: the app behind the front. */
async function start() {
  const { controller, calls } = createRecordingController();
  const app = createOrchestrationApp({ controller, version: "1", names: naming(), log: silentLog, limits });
  front = await startTestFront({ app: app.fetch });
  return { front, calls };
}

test("the client speaks to it over TCP and over the unix socket", async () => {
  const { front: it, calls } = await start();
  const overUnix: ClientFetch = (url, init) => fetch(url, { ...init, unix: it.unix.unix });
  for (const client of [
    createClient({ fetch, baseUrl: it.url }),
    createClient({ fetch: overUnix, baseUrl: "http://localhost" }),
  ]) {
    expect(await client.call(health)).toEqual({ status: "ok", version: "1" });
    expect(await client.call(apply, { query: { prune: true }, body: webManifest })).toMatchObject({
      applied: [webManifest],
    });
    const error = await client.call(getPod, { params: { name: "a/b" } }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 400 });
  }
  expect(calls.map(({ method }) => method)).toEqual(["apply", "apply"]);
});

test("every answer of the plane is one JSON line with its length, HEAD included", async () => {
  const { front: it } = await start();
  const whole = await fetch(`${it.url}/health`);
  const text = await whole.text();
  expect(text).toBe('{"status":"ok","version":"1"}\n');
  const head = await fetch(`${it.url}/health`, { method: "HEAD" });
  expect([head.status, head.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(head.headers.get("content-length")).toBe(String(text.length));
});

test.each([
  ["PUT", "/apply", 405],
  ["GET", "/nope", 404],
  ["TRACE", "/apply", 405],
  ["PROPFIND", "/apply", 501],
  ["POST", "/apply", 400],
])("%s %s is %d in the envelope", async (method, path, status) => {
  const { front: it } = await start();
  const client = await it.connect();
  await client.send(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  const text = await client.all();
  expect(text).toStartWith(`HTTP/1.1 ${status} `);
  expect(JSON.parse(text.slice(text.indexOf("\r\n\r\n")))).toMatchObject({ status: "error" });
});
