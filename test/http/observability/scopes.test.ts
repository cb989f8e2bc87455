import { afterAll, beforeAll, expect, test } from "bun:test";
import { orchestrationEndpoints } from "../../../src/orchestration/api/endpoints.ts";
import { type Endpoint, scopes } from "../../../src/base/wire/endpoint.ts";
import { type PlaneEndpoint, planePath } from "../../../src/observability/api/plane-endpoint.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;
const open = { burst: 1_000_000, perMinute: 1_000_000 };

beforeAll(() => {
  it = planeWorld({
    limits: { rates: { actions: open, clicks: open, reads: open, failures: open, refusals: open, keysMax: 10_000 } },
  });
});

afterAll(() => it.close());

/** Status and text of an answer; a stream is left at once. */
async function knock(
  endpoint: PlaneEndpoint,
  token: string | undefined,
  { sent = {}, part = "a" } = {},
): Promise<{ status: number; text: string }> {
  const path = planePath(endpoint).replaceAll(/:[a-zA-Z]+|\*$/g, part);
  const headers = { ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) };
  const left = new AbortController();
  const { method } = endpoint;
  const body = endpoint.body === undefined ? {} : { body: JSON.stringify(sent) };
  const request = new Request(`http://plane.test${path}`, { method, headers, signal: left.signal, ...body });
  const response = await it.app.fetch(request);
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  const text = isJson ? await response.text() : "";
  left.abort();
  if (!isJson) await response.body?.cancel();
  return { status: response.status, text };
}

const named = ({ method, path }: PlaneEndpoint) => `${method} ${path}`;

test("no route answers without a token", async () => {
  expect(it.app.endpoints.length).toBeGreaterThan(2);
  for (const endpoint of it.app.endpoints) {
    expect([named(endpoint), (await knock(endpoint, undefined)).status]).toEqual([named(endpoint), 401]);
  }
});

test("every other scope together does not open a route", async () => {
  for (const endpoint of it.app.endpoints) {
    if (endpoint.scope === "any") continue;
    const token = await it.token(scopes.filter((scope) => scope !== endpoint.scope));
    const { status, text } = await knock(endpoint, token);
    const refusal = text.includes(`insufficient scope: requires ${endpoint.scope}`);
    expect([named(endpoint), status, refusal]).toEqual([named(endpoint), 403, true]);
    await it.manage(`DELETE /pats/${token.slice(4, 10)}`);
  }
});

test("its own scope alone opens a route", async () => {
  for (const endpoint of it.app.endpoints) {
    const token = await it.token([endpoint.scope === "any" ? "exec" : endpoint.scope]);
    const { status, text } = await knock(endpoint, token);
    expect([named(endpoint), status === 401 || text.includes("insufficient scope")]).toEqual([named(endpoint), false]);
    await it.manage(`DELETE /pats/${token.slice(4, 10)}`);
  }
});

test("a token that is limited to another app changes nothing through an endpoint that operators have too", async () => {
  const token = await it.olderToken([...scopes], ["nothing/here"]);
  const operators = new Set<Endpoint>(orchestrationEndpoints);
  const shared = it.app.endpoints.filter((one) => one.method !== "GET" && operators.has(one.of ?? one));
  expect(shared.length).toBeGreaterThan(30);
  const before = it.calls.length;
  for (const endpoint of shared) {
    const { status } = await knock(endpoint, token, { sent: { scope: "a", name: "a" } });
    expect([named(endpoint), status >= 400 && status < 500]).toEqual([named(endpoint), true]);
  }
  // Only the run says which app it belongs to.
  expect(it.calls.slice(before).filter(({ method }) => method !== "getRun")).toEqual([]);
});

test("a path whose percent-encoding is broken names that, on every route", async () => {
  const token = await it.token([...scopes]);
  for (const endpoint of it.app.endpoints.filter(({ path }) => path.includes(":"))) {
    const { status, text } = await knock(endpoint, token, { part: "%ff" });
    expect([named(endpoint), status, text]).toEqual([named(endpoint), 400, expect.stringContaining("in the path")]);
  }
});
