import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type ConformanceWorld, conformanceWorld, podName, snapshotAgeMs } from "../../support/conformance-world.ts";
import type { PlaneAnswer } from "../../support/observability.ts";

/**
 * What a web UI that was written for this interface relies on, point by point. The shapes stand here by themselves,
 * so that a change of the plane's own schemas shows. Fields beside them are allowed. `test/e2e/plane.test.ts` asks the
 * same of a real server with a real pod.
 */
const text = Type.String({ minLength: 1 });
const instant = Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$" });
const count = Type.Integer({ minimum: 0 });
const figure = Type.Number();
const optional = Type.Optional;
const mapOf = (value: TSchema) => Type.Record(Type.String(), value);

const usage = Type.Object({
  ...{ cpu_percent: figure, memory_usage_bytes: count, memory_limit_bytes: count, memory_percent: figure },
  ...{ pids: optional(count), net_rx_bytes: optional(count), net_tx_bytes: optional(count) },
  ...{ block_read_bytes: optional(count), block_write_bytes: optional(count) },
});
const limits = Type.Object({ cpu: optional(text), memory: optional(text), memory_bytes: optional(count) });

const shapes = {
  token: Type.Object({
    token: Type.String({ pattern: "^pat_[A-Za-z0-9_-]{28}$" }),
    record: Type.Object({
      ...{ id: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{5}$" }), scopes: Type.Array(text) },
      ...{ name: optional(text), created_at: instant, last_used_at: optional(instant) },
    }),
  }),
  system: Type.Object({
    host: Type.Object({ hostname: text, kernel: text, uptime_seconds: count, boot_time: instant }),
    cpu: Type.Object({
      ...{ percent: Type.Number({ minimum: 0, maximum: 100 }), cores: count },
      ...{ load_1: figure, load_5: figure, load_15: figure },
    }),
    mem: Type.Object({ used_bytes: count, total_bytes: count, available_bytes: count }),
    disk: Type.Array(Type.Object({ mount: text, used_bytes: count, total_bytes: count }), { minItems: 1 }),
    voodu: Type.Object({ version: text }),
    plugins: Type.Array(
      Type.Object({ name: text, version: optional(text), aliases: optional(Type.Array(Type.String())) }),
    ),
  }),
  compact: Type.Object({
    ...{ name: text, kind: text, scope: optional(text), resource_name: text, replica_id: optional(text) },
    ...{ role: optional(text), release_id: optional(text), image: text, status: text, running: Type.Boolean() },
    created_at: optional(instant),
  }),
  detail: Type.Object({
    ...{ name: text, id: text, kind: text, scope: text, resource_name: text, replica_id: text, image: text },
    ...{ status: text, running: Type.Boolean(), created_at: instant, spec: Type.Object({ kind: text }) },
    state: Type.Object({
      ...{ status: optional(text), running: Type.Boolean(), exit_code: optional(count) },
      ...{ started_at: optional(instant), finished_at: optional(instant), restarts: optional(count) },
    }),
    ...{ command: Type.Array(Type.String()), entrypoint: Type.Array(Type.String()), working_dir: Type.String() },
    ...{ env: mapOf(Type.String()), labels: mapOf(Type.String()), restart_policy: Type.String() },
    networks: mapOf(
      Type.Object({ network_id: text, ip_address: text, gateway: text, aliases: Type.Array(Type.String()) }),
    ),
    mounts: Type.Array(
      Type.Object({ type: text, source: text, destination: text, mode: Type.String(), rw: Type.Boolean() }),
    ),
    ports: Type.Array(Type.Object({ container: text, host_ip: text, host_port: text })),
    stats: Type.Object({ usage, limits }),
  }),
  degraded: Type.Object({
    ...{ kind: text, scope: optional(text), name: text, reason: text, at: instant },
    replica_ids: optional(Type.Array(text)),
  }),
  stats: Type.Object({
    identity: Type.Object({ kind: text, scope: text, name: text, replica_id: text }),
    ...{ container_name: text, usage, limits, desired_replicas: optional(count), orphan: optional(Type.Boolean()) },
  }),
  systemRow: Type.Object({
    ...{ ts: instant, source: Type.Literal("system"), cpu_percent: optional(figure) },
    ...{ mem_used_bytes: figure, mem_total_bytes: figure, disk_used_bytes: figure, disk_total_bytes: figure },
  }),
  podRow: Type.Object({
    ...{ ts: instant, source: Type.Literal("pod"), container: text, kind: text, scope: text, name: text },
    ...{ replica_id: text, cpu_percent: figure, mem_usage_bytes: figure, mem_limit_bytes: optional(figure) },
    ...{ net_rx_bytes: figure, net_tx_bytes: figure, block_read_bytes: figure, block_write_bytes: figure },
    ...{ net_rx_delta_bytes: optional(figure), net_tx_delta_bytes: optional(figure) },
    ...{ block_read_delta_bytes: optional(figure), block_write_delta_bytes: optional(figure) },
  }),
  ingressRow: Type.Object({
    ...{ ts: instant, source: Type.Literal("ingress"), host: text, scope: text, name: text, req_count: figure },
    ...{ req_2xx: figure, req_3xx: figure, req_4xx: figure, req_5xx: figure, bytes_out: figure },
    ...{ latency_p50_ms: figure, latency_p90_ms: figure, latency_p95_ms: figure, latency_p99_ms: figure },
    latency_max_ms: figure,
  }),
  chart: Type.Object({
    ...{ metric: text, interval_seconds: count, available_from: optional(instant), truncated: Type.Boolean() },
    series: Type.Array(Type.Object({ ts: instant, value: figure }), { minItems: 1 }),
    latest: optional(Type.Object({ ts: instant, value: figure })),
  }),
  restart: Type.Object({ scope: text, name: text, kind: text, unfroze: Type.Array(text) }),
  pats: Type.Object({ pats: Type.Array(Type.Object({ id: text, scopes: Type.Array(text), created_at: instant })) }),
} as const;

function expectShape(shape: TSchema, value: unknown): void {
  const faults = [...Value.Errors(shape, value)].map(({ path, message }) => `${path}: ${message}`);
  expect(faults).toEqual([]);
}

let it: ConformanceWorld;
let token: string;

beforeAll(async () => {
  it = await conformanceWorld();
  token = await it.plane.token(["read", "actions", "admin"]);
});

afterAll(() => it.plane.close());

const ask = (request: string) => it.plane.ask(request, { token });
const list = (answer: PlaneAnswer, field: string) => answer.data[field] as Record<string, unknown>[];
const rowsOf = ({ text: body }: PlaneAnswer) =>
  body
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { ts: string; source: string });

describe("a web UI for this interface", () => {
  test("1: a token comes with 201, its record, and never a hash; it is in no list", async () => {
    it.plane.clock.moveTo(it.plane.clock.steady() + 1_000);
    const made = await it.plane.manage("POST /pats", { scopes: ["read", "actions", "read"], name: "panel" });
    expect(made.status).toBe(201);
    expectShape(shapes.token, made.data);
    expect(made.data.record).toMatchObject({ scopes: ["read", "actions"], name: "panel" });
    expect(made.text).not.toContain("hash");
    const listed = await ask("GET /pats");
    expectShape(shapes.pats, listed.data);
    expect(list(listed, "pats")[0]).toMatchObject({ name: "panel" });
    expect(listed.text).not.toContain(String(made.data.token));
  });

  test("2: the machine, with the root as its first disk", async () => {
    const { data } = await ask("GET /system");
    expectShape(shapes.system, data);
    expect((data.disk as { mount: string }[])[0]?.mount).toBe("/");
  });

  test("3: pods, compact and in detail with what they use and their manifest", async () => {
    const compact = await ask("GET /pods");
    for (const pod of list(compact, "pods")) expectShape(shapes.compact, pod);
    for (const one of list(compact, "degraded")) expectShape(shapes.degraded, one);
    const detail = await ask("GET /pods?detail=true&spec=true");
    expect(list(detail, "pods")).toHaveLength(1);
    expectShape(shapes.detail, list(detail, "pods")[0]);
    const { pod } = (await ask(`GET /pods/${podName}?spec=true`)).data as { pod: unknown };
    expectShape(shapes.detail, pod);
  });

  test("what the pods use says how old it is", async () => {
    const stats = await ask("GET /stats");
    expect(stats.data.snapshot).toBe(true);
    for (const one of list(stats, "pods")) expectShape(shapes.stats, one);
    expect(Number(stats.headers.get("X-Berth-Snapshot-Age"))).toBeGreaterThanOrEqual(snapshotAgeMs / 1_000);
  });

  test("4: the raw samples are rows of three kinds, oldest first, and those after a time alone", async () => {
    const answer = await ask("GET /metrics/dump?since=0");
    expect(answer.headers.get("Content-Type")).toBe("application/x-ndjson; charset=utf-8");
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    const rows = rowsOf(answer);
    const shapeOf: Record<string, TSchema> = {
      system: shapes.systemRow,
      pod: shapes.podRow,
      ingress: shapes.ingressRow,
    };
    for (const row of rows) expectShape(shapeOf[row.source] ?? Type.Never(), row);
    expect(new Set(rows.map(({ source }) => source))).toEqual(new Set(["system", "pod", "ingress"]));
    expect(rows.map(({ ts }) => ts)).toEqual(rows.map(({ ts }) => ts).toSorted());
    // The first sample of a counter has no difference; a round without visitors is a row of zeros.
    expect(rows.filter(({ source }) => source === "pod").map((row) => "net_rx_delta_bytes" in row)).toEqual([
      false,
      true,
      true,
    ]);
    expect(rows.findLast(({ source }) => source === "ingress")).toMatchObject({ req_count: 0, latency_p95_ms: 0 });
    const last = rows.at(-1)?.ts ?? "";
    const later = await ask(`GET /metrics/dump?since=${Math.floor(Date.parse(last) / 1_000) - 1}`);
    expect(new Set(rowsOf(later).map(({ ts }) => ts))).toEqual(new Set([last]));
    expect((await ask(`GET /metrics/dump?since=${Math.ceil(Date.parse(last) / 1_000)}`)).text).toBe("");
    for (const since of ["-1", "x"]) expect((await ask(`GET /metrics/dump?since=${since}`)).status).toBe(400);
  });

  test.each([
    ["system", "cpu_percent mem_used_bytes mem_total_bytes disk_used_bytes disk_total_bytes"],
    ["pod", "cpu_percent mem_usage_bytes mem_limit_bytes net_rx_bytes net_tx_bytes block_read_bytes"],
    ["pod", "block_write_bytes net_rx_delta_bytes net_tx_delta_bytes block_read_delta_bytes block_write_delta_bytes"],
    ["ingress", "req_count req_2xx req_3xx req_4xx req_5xx bytes_out"],
    ["ingress", "latency_p50_ms latency_p90_ms latency_p95_ms latency_p99_ms latency_max_ms"],
  ])("every metric of %s is a chart: %s", async (source, metrics) => {
    for (const metric of metrics.split(" ")) {
      const { status, data } = await ask(`GET /metrics?source=${source}&metric=${metric}&range=15m&interval=auto`);
      expect([metric, status, data.metric, data.interval_seconds]).toEqual([metric, 200, metric, 15]);
      expectShape(shapes.chart, data);
    }
  });

  test.each(["15m", "30m", "1h", "3h", "6h", "12h", "24h", "3d", "7d", "720h"])("a chart of %s", async (range) => {
    const { status, data } = await ask(`GET /metrics?source=pod&metric=cpu_percent&range=${range}`);
    expect([range, status]).toEqual([range, 200]);
    expectShape(shapes.chart, data);
    expect((data.series as unknown[]).length).toBeLessThanOrEqual(300);
  });

  test("5: the log of a pod from a time on, with times in front; without tail it is whole", async () => {
    const whole = await ask(`GET /pods/${podName}/logs?follow=false&timestamps=true&since=2026-01-01T00:00:00Z`);
    expect(whole.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    expect(whole.headers.get("X-Berth-Container")).toBe(podName);
    expect(whole.text).toBe(`2026-01-01T00:00:00.123456789Z tail undefined since ${Date.parse("2026-01-01")}\n`);
    expect((await ask(`GET /pods/${podName}/logs?tail=0&since=100`)).text).toBe("tail 0 since 100000\n");
  });

  test("6: the log of all pods has the name of the pod in front of each line", async () => {
    const all = await ask("GET /logs?tail=0&timestamps=true");
    expect(all.headers.get("X-Berth-Containers")).toBe(podName);
    expect(all.text).toBe(`[${podName}] 2026-01-01T00:00:00.123456789Z tail 0 since undefined\n`);
    const none = await ask("GET /logs?scope=nothing");
    expect([none.status, none.text]).toEqual([200, ""]);
  });

  test("6: a log that is followed says an empty line while it is silent", async () => {
    const following = await it.followSilent(token);
    expect(following).toBe("\n");
  });

  test("7: a restart answers at once", async () => {
    const answer = await ask(`POST /pods/${podName}/restart`);
    expect(answer.status).toBe(200);
    expectShape(shapes.restart, answer.data);
  });

  test("8: refusals are envelopes: 401 before anything else, then 400, 403, 404, 405, 429", async () => {
    const reader = await it.plane.token(["read"]);
    const wrong = `pat_${"x".repeat(28)}`;
    for (const [request, as, status] of [
      ["GET /nothing", undefined, 401],
      ["GET /pods", wrong, 401],
      ["PUT /pods", undefined, 401],
      ["GET /nothing", reader, 404],
      ["PUT /pods", reader, 405],
      ["GET /pods/none", reader, 404],
      ["GET /pods/none/logs", reader, 404],
      ["GET /pods/a%20b", reader, 400],
      ["GET /logs?tail=-1", reader, 400],
      ["GET /metrics?source=pod", reader, 400],
      [`POST /pods/${podName}/restart`, reader, 403],
      ["GET /pats", reader, 403],
    ] as const) {
      const answer = await it.plane.ask(request, as === undefined ? {} : { token: as });
      expect([request, answer.status]).toEqual([request, status]);
      expect(JSON.parse(answer.text)).toMatchObject({ status: "error", error: expect.stringMatching(/./) });
    }
    const unauthorized = await it.plane.ask("GET /pods", { token: wrong });
    expect([unauthorized.error, unauthorized.headers.has("WWW-Authenticate")]).toEqual([
      "invalid or expired token",
      true,
    ]);
    const actor = await it.plane.token(["actions"]);
    const restarts = [];
    for (let n = 0; n < 5; n++) restarts.push(await it.plane.ask(`POST /pods/${podName}/restart`, { token: actor }));
    const refused = restarts.find(({ status }) => status === 429);
    expect(JSON.parse(refused?.text ?? "{}")).toMatchObject({ status: "error" });
    expect(Number(refused?.headers.get("Retry-After"))).toBeGreaterThan(0);
  });

  test("9: values of the environment are masked, in the container and in its manifest", async () => {
    for (const request of ["GET /pods?detail=true&spec=true", `GET /pods/${podName}?spec=true`]) {
      const { text: body } = await ask(request);
      expect(body).not.toContain("s3cret");
      expect(body).toContain('"TOKEN":"********"');
    }
  });
});
