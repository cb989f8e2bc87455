import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Stats } from "../../src/orchestration/api/stats.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";
import { waitFor } from "../support/wait.ts";

const { label } = naming();
const identity = (kind: string, scope: string, name: string, replica: string) => ({
  [label.kind]: kind,
  [label.scope]: scope,
  [label.name]: name,
  [label.replicaId]: replica,
});

let plane: Plane;

beforeAll(async () => {
  plane = await startPlane({ statsIntervalMs: 60_000 });
  await plane.store.write((tx) => {
    const web = { scope: "shop", name: "web" };
    const limits = { cpu: "500m", memory: "64Mi" };
    tx.manifests.put({ ...web, kind: "statefulset", spec: { image: "x:1", resources: { limits } } }, 0);
  });
  await plane.pod("shop-web.0", identity("statefulset", "shop", "web", "0"));
  await plane.pod("shop-gone.ab1cd", identity("deployment", "shop", "gone", "ab1cd"));
  await plane.pod("foreign");
});
afterAll(() => plane.close());

async function stats(query = ""): Promise<{ pods: Stats[]; snapshot: boolean; sampled_at: string }> {
  const response = await fetch(`${plane.front.url}/stats${query}`);
  const { data } = (await response.json()) as { data: { pods: Stats[]; snapshot: boolean; sampled_at: string } };
  return data;
}
const namesOf = ({ pods }: { pods: Stats[] }) => pods.map((pod) => pod.container_name);

test("a record is the contract's, field for field", async () => {
  const gib = 1024 ** 3;
  plane.runtime.setUsage("shop-web.0", { cpuNanos: 5e9, memoryBytes: gib / 4, memoryLimitBytes: gib, pids: 3 });
  const { pods } = await stats("?live=true&name=web");
  expect(pods).toEqual([
    {
      identity: { kind: "statefulset", scope: "shop", name: "web", replica_id: "0" },
      container_name: "shop-web.0",
      usage: {
        cpu_percent: expect.any(Number),
        memory_usage_bytes: gib / 4,
        memory_limit_bytes: gib,
        memory_percent: 25,
        pids: 3,
      },
      limits: { cpu: "0.5", memory: "64Mi", memory_bytes: 64 * 1024 ** 2 },
      orphan: false,
    },
  ]);
});

test("orphans are left out unless asked for; containers without identity always", async () => {
  expect(namesOf(await stats("?live=true"))).toEqual(["shop-web.0"]);
  const all = await stats("?live=true&orphans=true");
  expect(namesOf(all)).toEqual(["shop-gone.ab1cd", "shop-web.0"]);
  expect(all.pods[0]).toMatchObject({ orphan: true, limits: {} });
});

test("filters are exact", async () => {
  for (const [query, wanted] of [
    ["?kind=statefulset", 1],
    ["?kind=deployment", 1],
    ["?kind=StatefulSets", 1],
    ["?scope=sho", 0],
    ["?name=web&scope=shop", 1],
  ] as const) {
    expect([query, namesOf(await stats(`${query}&orphans=1&live=1`)).length]).toEqual([query, wanted]);
  }
});

test("the collector's snapshot is told apart, with its time and age", async () => {
  const snapshot = await waitFor("a snapshot", async () => {
    const data = await stats();
    return data.snapshot && data;
  });
  const response = await fetch(`${plane.front.url}/stats`);
  const age = Number(response.headers.get("x-berth-snapshot-age"));
  expect(age).toBeGreaterThanOrEqual(0);
  expect(age).toBeLessThan(60);
  expect(Math.abs(Date.now() - Date.parse(snapshot.sampled_at))).toBeLessThan(60_000);
  expect((await stats("?live=true")).snapshot).toBe(false);
});

test("503 with the way out when the collector is off, and when the engine is down", async () => {
  const off = await startPlane();
  const answer = await fetch(`${off.front.url}/stats`);
  expect([answer.status, await answer.json()]).toEqual([
    503,
    {
      status: "error",
      error: "the stats collector is off; start the server with --stats-interval 15s",
      code: "unavailable",
    },
  ]);
  off.runtime.engineDown();
  await off.close();
  const down = await startPlane({ statsIntervalMs: 60_000 });
  down.runtime.engineDown();
  await waitFor("the engine to be down", async () => (await fetch(`${down.front.url}/stats`)).status === 503);
  await down.close();
});

test("a bad flag is a 400", async () => {
  expect((await fetch(`${plane.front.url}/stats?orphans=maybe`)).status).toBe(400);
});
