import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

/** What a web UI for the interface of this plane asks, over a real socket, of a real server with a real pod. */
let berth: Rig;
let url = "";
let token = "";

beforeAll(async () => {
  berth = await rig({ flags: ["--observability-addr", "127.0.0.1:0", "--stats-interval", "1s"] });
  const [address] = (berth.server.ready.addresses as { observability: string[] }).observability;
  url = `http://${address}/api/pat/v1`;
  const made = await berth.cli(["pat", "create", "--scope", "read,actions", "--name", "panel"]);
  token = /pat_[A-Za-z0-9_-]{28}/.exec(made.stdout)?.[0] ?? "";
  const script = "echo began; while true; do echo tick; sleep 0.2; done";
  await berth.apply({
    kind: "deployment",
    scope: "shop",
    name: "web",
    spec: {
      image: "berth-fixture:1",
      command: ["sh", "-c", script],
      env: { TOKEN: "s3cret" },
      resources: { limits: { cpu: "0.5", memory: "64Mi" } },
      stop_grace: "0s",
      rollout: { min_ready: "0s" },
    },
  });
  await berth.ready("deployment", "shop", "web");
});
afterAll(() => berth?.close());

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}${path}`, { ...init, headers: { Authorization: `Bearer ${token}`, ...init.headers } });
}

async function data<T>(path: string): Promise<T> {
  const response = await ask(path);
  expect([path, response.status]).toEqual([path, 200]);
  return ((await response.json()) as { data: T }).data;
}

interface PodRow extends Record<string, unknown> {
  name: string;
  stats?: { usage: { memory_usage_bytes: number }; limits: Record<string, unknown> };
}

async function pod(): Promise<string> {
  const { pods } = await data<{ pods: PodRow[] }>("/pods");
  return pods[0]?.name ?? "";
}

test("a token is made by the operator: 201 with token and record", async () => {
  const { status, body } = await berth.call("POST", "/pats", { scopes: ["read"], name: "other" });
  expect(status).toBe(201);
  expect(body.data).toMatchObject({
    token: expect.stringMatching(/^pat_[A-Za-z0-9_-]{28}$/),
    record: { name: "other" },
  });
});

test("the machine: host, cpu, mem, disk, version, plugins", async () => {
  const system = await data<Record<string, Record<string, unknown>>>("/system");
  expect(Object.keys(system).toSorted()).toEqual(["berth", "cpu", "disk", "host", "mem", "plugins", "voodu"]);
  expect(system.voodu?.version).toContain("commit");
  expect(Number(system.mem?.total_bytes)).toBeGreaterThan(Number(system.mem?.used_bytes));
});

test("pods in detail: every field, with usage and manifest, without values of the environment", async () => {
  const row = await waitFor("the pod to be measured", async () => {
    const { pods } = await data<{ pods: PodRow[] }>("/pods?detail=true&spec=true");
    return pods[0]?.stats === undefined ? undefined : pods[0];
  });
  for (const field of [
    ...["name", "kind", "scope", "resource_name", "replica_id", "image", "status", "running"],
    ...["created_at", "spec", "id", "state", "command", "entrypoint", "working_dir", "env", "labels", "networks"],
    ...["mounts", "ports", "restart_policy", "stats"],
  ]) {
    expect([field, Object.hasOwn(row, field)]).toEqual([field, true]);
  }
  expect(row.stats?.usage.memory_usage_bytes).toBeGreaterThan(0);
  expect(row.stats?.limits).toMatchObject({ cpu: "0.5", memory: "64Mi", memory_bytes: 64 * 1024 * 1024 });
  expect(JSON.stringify(row)).not.toContain("s3cret");
  expect(JSON.stringify(row)).toContain('"TOKEN":"********"');
});

test("logs with times from a moment on: RFC 3339 with nanoseconds in front of each line", async () => {
  const name = await pod();
  const lines = (await (await ask(`/pods/${name}/logs?timestamps=true&since=1h`)).text()).split("\n");
  expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z began$/);
});

test("a followed log of all pods has their names in front, and ends with the token", async () => {
  const made = await berth.call("POST", "/pats", { scopes: ["read"] });
  const { token: own, record } = made.body.data as unknown as { token: string; record: { id: string } };
  const response = await fetch(`${url}/logs?follow=true&tail=0`, { headers: { Authorization: `Bearer ${own}` } });
  expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const first = Buffer.from((await reader.read()).value ?? new Uint8Array()).toString();
  expect(first).toStartWith(`[${await pod()}] tick\n`);
  const ended = (async () => {
    for (;;) if ((await reader.read()).done) return true;
  })();
  expect((await berth.cli(["pat", "revoke", "-y", record.id])).exitCode).toBe(0);
  expect(await ended).toBe(true);
});

test("errors are envelopes: 401 before anything else, 404, 405, 403", async () => {
  const cases: [string, RequestInit, number][] = [
    ["/nothing", { headers: { Authorization: "Bearer pat_wrong" } }, 401],
    ["/nothing", {}, 404],
    ["/pods/none", {}, 404],
    ["/pods/none/logs", {}, 404],
    ["/pods", { method: "PUT" }, 405],
    ["/pats", {}, 403],
  ];
  for (const [path, init, status] of cases) {
    const response = await ask(path, init);
    const body = (await response.json()) as { status: string; error: string };
    expect([path, response.status, body.status]).toEqual([path, status, "error"]);
    expect(body.error).toBeString();
  }
});

test("a restart answers early and rolls the app; more than a few in a row are a 429 that says when", async () => {
  const before = await pod();
  const response = await ask(`/pods/${before}/restart`, { method: "POST" });
  expect(response.status).toBe(200);
  const { data: begun } = (await response.json()) as { data: Record<string, unknown> };
  expect(begun).toMatchObject({ scope: "shop", name: "web", kind: "deployment", unfroze: [] });
  await waitFor("another pod to run", async () => {
    const name = await pod();
    return name !== "" && name !== before;
  });
  const statuses: number[] = [];
  let last: Response | undefined;
  for (let i = 0; i < 4; i++) {
    last = await ask("/pods/none/restart", { method: "POST" });
    statuses.push(last.status);
  }
  expect(statuses).toContain(429);
  expect(Number(last?.headers.get("Retry-After"))).toBeGreaterThan(0);
});
