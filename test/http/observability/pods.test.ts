import { afterEach, beforeEach, expect, test } from "bun:test";
import { Failure } from "../../../src/base/wire/failure.ts";
import type { Controller } from "../../../src/orchestration/controller/controller.ts";
import type { LogOptions } from "../../../src/orchestration/engine/session.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

const pod = (scope: string, name: string) => ({
  name: `${scope}-${name}.abcde`,
  kind: "deployment",
  scope,
  resource_name: name,
  image: "web:1",
  state: "running",
  status: "Up 2 hours",
  running: true,
  env: { TOKEN: "s3cret" },
});

const usage = { cpu_percent: 1, memory_usage_bytes: 2, memory_limit_bytes: 4, memory_percent: 50 };
const stat = (scope: string, name: string) => ({
  identity: { kind: "deployment", scope, name, replica_id: "abcde" },
  container_name: `${scope}-${name}.abcde`,
  usage,
  limits: {},
  orphan: false,
});

const rows = [pod("shop", "web"), pod("back", "api")];

async function* bytes(options: LogOptions, name: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${name} says\ntail ${options.tail} since ${options.since}`);
}

const answers = {
  listPods: async () => ({
    pods: rows,
    degraded: [{ kind: "deployment", scope: "back", name: "api", reason: "crash loop" }],
  }),
  getPod: async (name: string) => {
    const found = rows.find((row) => row.name === name);
    if (found === undefined) throw new Failure("not_found", `no container "${name}"`);
    return { pod: found };
  },
  stats: async () => ({
    pods: [stat("shop", "web"), stat("back", "api")],
    snapshot: true,
    sampled_at: new Date(Date.now() - 2_000).toISOString(),
  }),
  restart: async () => ({ kind: "deployment", scope: "shop", name: "web", unfroze: [], operation: "op1" }),
  podLogs: async (name: string, options: LogOptions) => bytes(options, name),
} as unknown as Partial<Controller>;

let it: PlaneWorld;
beforeEach(() => {
  it = planeWorld({ controller: answers });
});
afterEach(() => it.close());

const names = (data: Record<string, unknown>) => (data.pods as { name: string }[]).map(({ name }) => name);

test("the list shows pods with what they use and without values of their environment", async () => {
  const token = await it.token();
  const compact = await it.ask("GET /pods", { token });
  expect(names(compact.data)).toEqual(["shop-web.abcde", "back-api.abcde"]);
  expect(compact.data.degraded).toHaveLength(1);
  const detail = await it.ask("GET /pods?detail=true&spec=true", { token });
  expect(detail.text).not.toContain("s3cret");
  expect((detail.data.pods as { stats: unknown }[])[0]?.stats).toEqual({ usage, limits: {} });
  const bare = await it.ask("GET /pods?detail=true&stats=false", { token });
  expect(bare.text).not.toContain("cpu_percent");
});

test("a token for some apps sees their pods alone, and others are a 404 as what does not exist", async () => {
  const token = await it.token(["read", "actions"], { apps: ["shop"] });
  const list = await it.ask("GET /pods", { token });
  expect([names(list.data), list.data.degraded]).toEqual([["shop-web.abcde"], []]);
  const stats = await it.ask("GET /stats", { token });
  expect((stats.data.pods as { container_name: string }[]).map((row) => row.container_name)).toEqual([
    "shop-web.abcde",
  ]);
  for (const name of ["back-api.abcde", "nothing"]) {
    for (const request of [`GET /pods/${name}`, `GET /pods/${name}/logs`, `POST /pods/${name}/restart`]) {
      const answer = await it.ask(request, { token });
      const text = `pod "${name}" does not exist, or this token may not see it`;
      expect([request, answer.status, answer.error]).toEqual([request, 404, text]);
    }
  }
  expect((await it.ask("GET /logs", { token })).text).not.toContain("back");
});

test("figures say how old they are", async () => {
  const answer = await it.ask("GET /stats", { token: await it.token() });
  expect(Number(answer.headers.get("X-Berth-Snapshot-Age"))).toBeGreaterThanOrEqual(2);
});

test("a restart answers at once with an operation, needs its scope, and is on record for the token", async () => {
  const token = await it.token(["read", "actions"]);
  const answer = await it.ask("POST /pods/shop-web.abcde/restart", { token });
  expect([answer.status, answer.data]).toEqual([
    200,
    { scope: "shop", name: "web", kind: "deployment", unfroze: [], operation: "op1" },
  ]);
  const [call] = it.calls.filter(({ method }) => method === "restart");
  expect(JSON.stringify(call?.args)).toContain(`pat:${token.slice(4, 10)}`);
  expect(call?.args[1]).toMatchObject({ by: { type: "token", scopes: ["read", "actions"], apps: [] } });
  const refused = await it.ask("POST /pods/shop-web.abcde/restart", { token: await it.token() });
  expect([refused.status, refused.error]).toEqual([403, "insufficient scope: requires actions"]);
});

test("logs of one pod come as they are, of many with the name of the pod in front", async () => {
  const token = await it.token();
  const one = await it.ask("GET /pods/shop-web.abcde/logs?tail=5&since=100", { token });
  expect([one.status, one.headers.get("Content-Type")]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(one.headers.get("X-Berth-Container")).toBe("shop-web.abcde");
  expect(one.text).toBe("shop-web.abcde says\ntail 5 since 100000");
  const many = await it.ask("GET /logs", { token });
  expect(many.headers.get("X-Berth-Containers")).toBe("shop-web.abcde,back-api.abcde");
  expect(many.text.split("\n").toSorted()).toEqual([
    "",
    "[back-api.abcde] back-api.abcde says",
    "[back-api.abcde] tail undefined since undefined",
    "[shop-web.abcde] shop-web.abcde says",
    "[shop-web.abcde] tail undefined since undefined",
  ]);
});

test("a wrong tail or time is a 400 that names the parameter", async () => {
  const token = await it.token();
  for (const [query, text] of [
    ["tail=-1", "tail"],
    ["tail=many", "tail"],
    ["since=yesterday", 'query since: "yesterday" is not a time'],
  ]) {
    const answer = await it.ask(`GET /logs?${query}`, { token });
    expect([query, answer.status]).toEqual([query, 400]);
    expect(answer.error).toContain(String(text));
  }
});

test("the machine is shown in the shape that known web UIs read", async () => {
  const { data } = await it.ask("GET /system", { token: await it.token() });
  expect(data).toMatchObject({
    host: { hostname: expect.any(String), uptime_seconds: expect.any(Number) },
    cpu: { cores: expect.any(Number), load_1: expect.any(Number) },
    mem: { total_bytes: expect.any(Number) },
    voodu: { version: "test" },
    plugins: [expect.objectContaining({ name: "redis" })],
  });
  expect((data.disk as { mount: string }[])[0]?.mount).toBe("/");
});
