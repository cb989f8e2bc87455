import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { telemetryLimits } from "../../../src/config/telemetry-limits.ts";
import type { TraceRow, TraceView } from "../../../src/observability/api/traces.ts";
import type { Span } from "../../../src/observability/core/traces/span.ts";
import { planeWorld, type PlaneWorld } from "../../support/observability.ts";
import { waitFor } from "../../support/wait.ts";

let world: PlaneWorld;
let folder: string;
let space: { freeBytes: number; totalBytes: number };
const limits = { ...telemetryLimits.traces };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "traces-"));
  space = { freeBytes: 1e12, totalBytes: 2e12 };
  world = planeWorld({ traces: { file: join(folder, "traces.db"), limits, space: () => space } });
});
afterEach(() => {
  world.close();
  rmSync(folder, { recursive: true, force: true });
});

const id = (letter: string) => letter.repeat(32);
const span = (trace: string, more: Partial<Span> = {}): Span => ({
  ...{ trace: id(trace), id: `${trace}1`.padEnd(16, "0"), parent: "", name: "GET /pay", kind: "server" },
  ...{ atUs: world.clock.now() * 1_000 - 60_000_000, durationUs: 40_000, error: false, message: "" },
  ...{ service: "web", replica: "a1", attributes: { "http.route": "/pay" }, events: [] },
  ...more,
});
const add = (name: string, ...spans: Span[]) => world.running.observability.traces.add({ scope: "shop", name }, spans);

async function list(query = "", token?: string): Promise<string[]> {
  const answer =
    token === undefined ? await world.manage(`GET /traces${query}`) : await world.ask(`GET /traces${query}`, { token });
  expect([answer.status, answer.error]).toEqual([200, ""]);
  return (answer.data.traces as TraceRow[]).map(({ trace_id: trace }) => trace.slice(0, 1));
}

test("traces are listed newest first, and found by app, time, duration, error and text", async () => {
  const base = span("a").atUs;
  add("web", span("a", { error: true, message: "no funds" }), span("b", { atUs: base + 1_000_000, name: "GET /cart" }));
  add("worker", span("c", { atUs: base + 2_000_000, durationUs: 3_000_000 }));
  add("worker", span("a", { id: "22".repeat(8), parent: "a1".padEnd(16, "0"), atUs: base + 10_000, name: "charge" }));
  expect(await list()).toEqual(["c", "b", "a"]);
  expect(await list("?app=shop/worker")).toEqual(["c", "a"]);
  expect(await list("?error=true")).toEqual(["a"]);
  expect(await list("?min_duration=1s")).toEqual(["c"]);
  expect(await list("?text=CART")).toEqual(["b"]);
  expect(await list("?since=10s")).toEqual([]);
  const first = await world.manage("GET /traces?limit=2");
  expect(await list(`?limit=2&cursor=${String(first.data.cursor)}`)).toEqual(["a"]);
  for (const wrong of ["limit=0", "min_duration=fast", "cursor=x", "since=soon"])
    expect([wrong, (await world.manage(`GET /traces?${wrong}`)).status]).toEqual([wrong, 400]);
});

test("a trace is shown as a tree of the spans of all its apps, as far as a token reaches them", async () => {
  const base = span("a").atUs;
  add("worker", span("a", { id: "22".repeat(8), parent: "a1".padEnd(16, "0"), atUs: base + 10_000, name: "charge" }));
  add("web", span("a"));
  const whole = (await world.manage(`GET /traces/${id("a")}`)).data as unknown as TraceView;
  expect(whole.tree.map(({ name, app, depth, offset_ms: offset }) => [name, app, depth, offset])).toEqual([
    ["GET /pay", "web", 0, 0],
    ["charge", "worker", 1, 10],
  ]);
  expect([whole.root, whole.apps, whole.duration_ms]).toEqual(["GET /pay", ["shop/web", "shop/worker"], 50]);
  const token = await world.token(["read"], { apps: ["shop/worker"] });
  expect(await list("", token)).toEqual(["a"]);
  const part = (await world.ask(`GET /traces/${id("a")}`, { token })).data as unknown as TraceView;
  expect([part.tree.map(({ name }) => name), part.apps]).toEqual([["charge"], ["shop/worker"]]);
  const other = await world.token(["read"], { apps: ["blog/*"] });
  expect(await list("", other)).toEqual([]);
  expect((await world.ask(`GET /traces/${id("a")}`, { token: other })).status).toBe(404);
  expect(
    (await world.ask("GET /traces/state", { token: await world.token(["host:read"], { apps: ["shop/*"] }) })).status,
  ).toBe(403);
});

test("old traces go, a low disk takes more of them, and a full one takes nothing in", async () => {
  const stop = new AbortController();
  add("web", span("a"));
  const running = world.running.observability.traces.run(stop.signal);
  const round = async () => {
    await waitFor("the janitor to rest", async () => world.clock.sleepers > 0);
    world.clock.moveTo(world.clock.steady() + limits.tendMs);
  };
  expect(await list()).toEqual(["a"]);
  space = { freeBytes: 1, totalBytes: 2e12 };
  await round();
  await waitFor("the shedding", async () => (await list()).length === 0);
  expect(add("web", span("b"))).toEqual({ rejected: 1, reason: expect.stringContaining("MiB free") });
  const state = await world.manage("GET /traces/state");
  expect(state.data).toMatchObject({ spans: 0, dropped: 1, problem: expect.stringContaining("MiB free") });
  stop.abort();
  await running;
});
