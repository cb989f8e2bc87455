import { expect, test } from "bun:test";
import { ApiError, type ClientInit, createClient } from "../../../../src/base/wire/client.ts";
import { apply } from "../../../../src/orchestration/api/apply.ts";
import { health } from "../../../../src/orchestration/api/health.ts";
import { openapi } from "../../../../src/orchestration/api/openapi.ts";
import { dispatchPlugin } from "../../../../src/orchestration/api/dispatch.ts";
import { retryBuild } from "../../../../src/orchestration/api/builds.ts";
import { getPod, listPods, podReady } from "../../../../src/orchestration/api/pods.ts";

interface Sent {
  url: string;
  init: ClientInit;
}

function clientAnswering(status: number, text: string, headers?: Record<string, string>) {
  const sent: Sent[] = [];
  const fetch = async (url: string, init: ClientInit) => {
    sent.push({ url, init });
    return new Response(text, { status });
  };
  return { sent, client: createClient({ fetch, baseUrl: "http://localhost", ...(headers ? { headers } : {}) }) };
}

test("writes method, path, query, headers and body from the endpoint value", async () => {
  const { client, sent } = clientAnswering(200, '{"status":"ok","data":{"applied":[],"pruned":[]}}\n', {
    "X-Berth-Actor": "ada",
  });
  const data = await client.call(apply, { query: { dry_run: true, prune: undefined }, body: [{ kind: "job" }] });
  expect(data).toEqual({ applied: [], pruned: [] });
  expect(sent).toEqual([
    {
      url: "http://localhost/apply?dry_run=true",
      init: {
        method: "POST",
        headers: { "X-Berth-Actor": "ada", "Content-Type": "application/json" },
        body: '[{"kind":"job"}]',
      },
    },
  ]);
});

test("path parameters are encoded", async () => {
  const { client, sent } = clientAnswering(200, '{"status":"ok","data":{}}');
  await client.call(getPod, { params: { name: "a/b c" } });
  expect(sent[0]?.url).toBe("http://localhost/pods/a%2Fb%20c");
  expect(sent[0]?.init).toEqual({ method: "GET", headers: {} });
});

test("an input that does not fit its endpoint does not compile; where it got past the compiler, a part of the path is missing", async () => {
  const { client, sent } = clientAnswering(200, '{"status":"ok","data":{}}');
  // @ts-expect-error the parameter is called "name"
  await client.call(getPod, { params: { nme: "a" } });
  // @ts-expect-error a parameter of the path is needed
  await client.call(getPod);
  // @ts-expect-error all three are needed
  await client.call(retryBuild, { params: { scope: "shop", name: "web" } });
  // @ts-expect-error this path has no parameters
  await client.call(listPods, { params: { name: "a" } });
  // @ts-expect-error there is no such query parameter
  await client.call(listPods, { query: { details: true } });
  // @ts-expect-error "GET /pods" has no body
  await client.call(listPods, { body: { name: "a" } });
  // @ts-expect-error the body of an action is an object with "args"
  await client.call(dispatchPlugin, { params: { name: "pg", command: "psql" }, body: { args: "x" } });
  expect(sent.slice(0, 3).map(({ url }) => url)).toEqual([
    "http://localhost/pods/",
    "http://localhost/pods/",
    "http://localhost/builds/shop/web//retry",
  ]);
});

test("flat answers are returned whole", async () => {
  expect(await clientAnswering(200, '{"status":"ok","version":"1"}').client.call(health)).toEqual({
    status: "ok",
    version: "1",
  });
  expect(await clientAnswering(200, '{"openapi":"3.1.0"}').client.call(openapi)).toEqual({ openapi: "3.1.0" });
});

test("an answer that is ok under another status is data, not an error", async () => {
  const { client } = clientAnswering(503, '{"status":"ok","data":{"readiness":{"ready":false}}}');
  expect(await client.call(podReady, { params: { name: "a.0" } })).toMatchObject({ readiness: { ready: false } });
});

const notOurs = "\nis this the orchestration API of a berth server?";

test.each([
  [404, '{"status":"error","error":"pod \\"a\\" is not there"}\n', 'pod "a" is not there'],
  [502, "<html>Bad Gateway</html>", `status 502: <html>Bad Gateway</html>${notOurs}`],
  [500, "", `status 500: empty answer${notOurs}`],
  [200, "[]", `status 200: []${notOurs}`],
  [200, "null", `status 200: null${notOurs}`],
  [503, '{"status":"error"}', `status 503: {"status":"error"}${notOurs}`],
])("%d %j is an ApiError", async (status, text, message) => {
  const error = await clientAnswering(status, text)
    .client.call(getPod, { params: { name: "a" } })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status, message });
});

test("an ApiError carries what the envelope tells programs, without what is of another shape", async () => {
  const problem = { manifest: 1, path: "spec", message: "is bad" };
  const told = { code: "conflict", reason: "RevisionConflict", fields: { revision: 3 }, problems: [problem] };
  const answering = async (data: object) =>
    clientAnswering(409, JSON.stringify({ status: "error", error: "x", ...data }))
      .client.call(getPod, { params: { name: "a" } })
      .catch((thrown: unknown) => thrown);
  expect(await answering(told)).toMatchObject({ data: told });
  expect(await answering({ code: 409, reason: [], fields: [1], problems: "x" })).toMatchObject({ data: {} });
  expect(await answering({ problems: [problem, 3, { path: 1 }] })).toMatchObject({ data: { problems: [problem] } });
});

test("a flat endpoint's error is an error all the same", async () => {
  const { client } = clientAnswering(403, '{"status":"error","error":"no web pages"}');
  expect(await client.call(health).catch((thrown: unknown) => thrown)).toMatchObject({
    status: 403,
    message: "no web pages",
  });
});

test("raw returns the answer as it is", async () => {
  const response = await clientAnswering(418, "text").client.raw(getPod, { params: { name: "a" } });
  expect([response.status, await response.text()]).toEqual([418, "text"]);
});
