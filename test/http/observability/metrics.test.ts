import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { addDuration, createHistogram } from "../../../src/base/pure/histogram.ts";
import type { MetricAnswers, MetricCatalogue, MetricChart } from "../../../src/observability/api/metrics.ts";
import type { Sample, Series } from "../../../src/observability/core/metrics/series.ts";
import { exposition } from "../../../src/observability/core/metrics/exposition.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;
let token: string;
beforeEach(async () => {
  it = planeWorld();
  token = await it.token();
});
afterEach(() => it.close());

const series = (source: Series["source"], metric: string, more: Partial<Series> = {}): Series => ({
  ...{ source, kind: "", scope: "", name: "", replica: "", metric, labels: {} },
  ...more,
});
const web = { kind: "deployment", scope: "shop", name: "web" };
const other = { kind: "deployment", scope: "other", name: "api" };

/** Twenty samples of everything, 15 seconds apart; the last one is of now. */
function live(): void {
  const latency = createHistogram();
  for (let n = 1; n <= 10; n++) addDuration(latency, n);
  const host = { host: "a.example", ingress: "web" };
  const samples = (n: number): Sample[] => [
    { series: series("system", "cpu_percent"), value: n },
    { series: series("system", "disk_used_bytes", { labels: { mount: "/" } }), value: 100 },
    { series: series("system", "disk_used_bytes", { labels: { mount: "/data" } }), value: 900 },
    { series: series("pod", "cpu_percent", { ...web, replica: "0" }), value: 10 },
    { series: series("pod", "cpu_percent", { ...web, replica: "1" }), value: 30 },
    { series: series("pod", "cpu_percent", { ...other, replica: "0" }), value: 99 },
    { series: series("ingress", "req_count", { ...web, labels: host }), value: 30 },
    { series: series("ingress", "latency_ms", { ...web, labels: host }), value: latency },
  ];
  const { store } = it.metrics.archive();
  for (let n = 1; n <= 20; n++) {
    it.clock.moveTo(it.clock.steady() + 15_000);
    it.metrics.record(it.clock.now(), samples(n));
  }
  const [beganAt, seenAt] = [it.clock.now() - 150_000, it.clock.now()];
  store.replicas.put({ container: "shop-web.x1", ...web, replica: "1", replicaId: "x1", beganAt, seenAt });
}

const get = async <T>(path: string, as = token) => {
  const { status, data, error } = await it.ask(`GET ${path}`, { token: as });
  return { status, error, data: data as unknown as T };
};

describe("GET /metrics", () => {
  test("has the shape of the contract, and the newest sample", async () => {
    live();
    const { status, data } = await get<MetricChart>("/metrics?source=system&metric=cpu_percent&range=15m&interval=1m");
    expect(status).toBe(200);
    expect(data).toMatchObject({ metric: "cpu_percent", interval_seconds: 60, truncated: true });
    expect(data.series.length).toBeWithin(5, 7);
    expect(data.series[1]?.ts).toMatch(/:00\.000Z$/);
    expect(data.latest).toEqual({ ts: new Date(it.clock.now()).toISOString(), value: 20 });
    expect(data.available_from).toBe("2026-01-01T00:00:15.000Z");
  });

  test("the disk is that of the root, and pods are averaged or one of them", async () => {
    live();
    const value = async (query: string) =>
      (await get<MetricChart>(`/metrics?range=15m&interval=15m&${query}`)).data.series[0]?.value;
    expect(await value("source=system&metric=disk_used_bytes")).toBe(100);
    expect(await value("source=pod&metric=cpu_percent&scope=shop&name=web")).toBe(20);
    expect(await value("source=pod&metric=cpu_percent&pod=shop-web.x1")).toBe(30);
    expect(await value("source=ingress&metric=latency_p90_ms")).toBe(9);
    expect(await value("source=pod&metric=cpu_percent&pod=gone")).toBeUndefined();
  });

  test("the span is a duration as elsewhere", async () => {
    live();
    const { status, data } = await get<MetricChart>(
      "/metrics?source=system&metric=cpu_percent&range=1h30m&interval=90",
    );
    expect([status, data.interval_seconds]).toEqual([200, 90]);
    // An hour and a half has 60 buckets of 90 seconds; those without a sample are left out.
    expect(data.truncated).toBe(true);
  });

  test("without samples there is nothing, and no false time", async () => {
    const { data } = await get<MetricChart>("/metrics?source=pod&metric=cpu_percent");
    expect(data).toEqual({ metric: "cpu_percent", interval_seconds: 15, truncated: false, series: [] });
  });

  test.each([
    ["source=pod", "metric: "],
    ["metric=cpu_percent", "source"],
    ["source=cats&metric=cpu_percent", 'source: "cats" is not a source, use one of system, pod'],
    ["source=pod&metric=cpu_percant", 'metric: "cpu_percant" is not a metric of pod; did you mean "cpu_percent"'],
    ["source=pod&metric=cpu_percent&range=1h30", 'range: "1h30" is not a duration'],
    ["source=pod&metric=cpu_percent&range=week", 'range: "week" is not a duration'],
    ["source=pod&metric=cpu_percent&range=7d&interval=15s", "the smallest that can be answered is 15m"],
    ["source=pod&metric=cpu_percent&range=9000d", 'range: "9000d" is longer than 730d'],
  ])("%s is refused with 400", async (query, error) => {
    const answer = await get(`/metrics?${query}`);
    expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(error)]);
  });
});

describe("GET /query", () => {
  test("several metrics, grouped, in one answer", async () => {
    live();
    const query = "metric=pod.cpu_percent,ingress.req_count,ingress.latency_ms&from=3m&step=1m&group_by=app&app=shop";
    const { data } = await get<MetricAnswers>(`/query?${query}`);
    expect(data.step_seconds).toBe(60);
    expect(data.results.map(({ metric, agg, type, unit }) => [metric, agg, type, unit])).toEqual([
      ["pod.cpu_percent", "avg", "gauge", "percent"],
      ["ingress.req_count", "rate", "counter", "count"],
      ["ingress.latency_ms", "p95", "histogram", "milliseconds"],
    ]);
    const [cpu, requests, latency] = data.results.map((result) => result.series[0]);
    expect([cpu?.group, cpu?.values[1]]).toEqual([{ app: "shop/web" }, 20]);
    expect(requests?.values[1]).toBe(2);
    expect(latency?.values[1]).toBe(10);
  });

  test("levels of replicas add up, labels are filters, and empty buckets are null", async () => {
    live();
    const first = async (query: string) =>
      (await get<MetricAnswers>(`/query?step=5m&${query}`)).data.results[0]?.series ?? [];
    expect((await first("metric=pod.cpu_percent&agg=sum&app=shop/web&from=5m"))[0]?.values).toContain(40);
    const byMount = await first("metric=system.disk_used_bytes&group_by=mount&from=5m");
    expect(byMount.map(({ group, values }) => [group.mount, values.at(-1)])).toEqual([
      ["/", 100],
      ["/data", 900],
    ]);
    expect(await first("metric=system.disk_used_bytes&where=mount=/data&from=5m")).toHaveLength(1);
    expect((await first("metric=system.cpu_percent&from=1h"))[0]?.values[0]).toBeNull();
  });

  test.each([
    ["", "metric"],
    ["metric=cpu_percent", 'metric: write "cpu_percent" with its source in front'],
    ["metric=pod.cpu_percent&agg=p95", '"p95" cannot be computed of the gauge "cpu_percent": use avg, min, max, sum'],
    ["metric=ingress.latency_ms&agg=last", '"last" cannot be computed of the histogram'],
    ["metric=pod.cpu_percent&agg=mean", 'agg: "mean" cannot be computed, use one of avg'],
    ["metric=pod.cpu_percent&from=yesterday", 'from: "yesterday" is not a time'],
    ["metric=pod.cpu_percent&from=1h&until=2h", "the time span is empty"],
    ["metric=pod.cpu_percent&from=7d&step=15s", "the smallest that can be answered is 15m"],
    ["metric=pod.cpu_percent&where=mount", 'where: "mount" is not LABEL=VALUE'],
    ["metric=pod.cpu_percent&app=a/b/c", 'app: "a/b/c" is not SCOPE or SCOPE/NAME'],
  ])("%s is refused with 400", async (query, error) => {
    live();
    const answer = await get(`/query?${query}`);
    expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(error)]);
  });
});

describe("a token that is limited to some apps", () => {
  test("sees them alone, and nothing of the machine", async () => {
    live();
    const limited = await it.token(["read"], { apps: ["shop/web"] });
    const answer = await get<MetricAnswers>(
      "/query?metric=pod.cpu_percent,system.cpu_percent&group_by=app&from=5m",
      limited,
    );
    expect(answer.data.results.map(({ series: groups }) => groups.map(({ group }) => group.app))).toEqual([
      ["shop/web"],
      [],
    ]);
    const { text } = await it.ask("GET /metrics/dump", { token: limited });
    expect(text).toContain('"name":"web"');
    expect(text).not.toContain('"name":"api"');
    expect(text).not.toContain('"source":"system"');
    const { data } = await get<MetricCatalogue>("/metrics/catalogue", limited);
    expect(data.metrics.find(({ source, name }) => source === "pod" && name === "cpu_percent")?.series).toBe(2);
  });
});

describe("GET /metrics/dump", () => {
  test("a reader that leaves in the middle is no error", async () => {
    live();
    const headers = { Authorization: `Bearer ${await it.token(["read"])}` };
    const { body } = await it.app.fetch(new Request("http://plane.test/api/pat/v1/metrics/dump", { headers }));
    const reader = body?.getReader();
    reader?.read().catch(() => undefined);
    await reader?.cancel();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(it.lines.filter((line) => line.includes("metrics dump failed"))).toEqual([]);
  });

  test("has the three kinds of lines, oldest first, after the time that is asked for", async () => {
    live();
    const since = Math.floor(it.clock.now() / 1_000) - 61;
    const answer = await it.ask(`GET /metrics/dump?since=${since}`, { token });
    expect(answer.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const rows = answer.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ ts }) => ts)).toEqual(rows.map(({ ts }) => ts).toSorted());
    expect(Date.parse(rows[0].ts)).toBeGreaterThan(since * 1_000);
    expect(rows.find(({ source }) => source === "system")).toMatchObject({ cpu_percent: 16, disk_used_bytes: 100 });
    expect(rows.find(({ container }) => container === "shop-web.x1")).toMatchObject({
      ...{ source: "pod", kind: "deployment", scope: "shop", name: "web", replica_id: "x1", cpu_percent: 30 },
    });
    expect(rows.find(({ source }) => source === "ingress")).toMatchObject({
      ...{ host: "a.example", scope: "shop", name: "web", req_count: 30, latency_p50_ms: 5, latency_max_ms: 10 },
    });
  });

  test("no rows are an empty 200, and nonsense is a 400", async () => {
    const empty = await it.ask("GET /metrics/dump", { token });
    expect([empty.status, empty.text]).toEqual([200, ""]);
    expect((await it.ask("GET /metrics/dump?since=-5", { token })).status).toBe(400);
    expect((await it.ask("GET /metrics/dump?since=abc", { token })).status).toBe(400);
  });
});

/** A reader of the text format, as strict as its specification: name, labels, number. */
function parseExposition(text: string) {
  const types = new Map<string, string>();
  const rows: { name: string; labels: Record<string, string>; value: number }[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/.exec(line);
    if (type !== null) types.set(type[1] ?? "", type[2] ?? "");
    if (line.startsWith("# ")) continue;
    const found = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?[0-9.e+]+|\+Inf|NaN)$/.exec(line);
    if (found === null) throw new Error(`not a sample: ${line}`);
    const labels: Record<string, string> = {};
    let rest = found[2] ?? "";
    while (rest !== "") {
      const pair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/.exec(rest);
      if (pair === null) throw new Error(`not a label: ${rest}`);
      labels[pair[1] ?? ""] = (pair[2] ?? "").replaceAll("\\n", "\n").replaceAll('\\"', '"').replaceAll("\\\\", "\\");
      rest = rest.slice(pair[0].length);
    }
    rows.push({ name: found[1] ?? "", labels, value: Number(found[3]) });
  }
  return { types, rows };
}

describe("GET /metrics.prom", () => {
  test("is text that a strict reader takes, also of names that are strange", () => {
    const latency = createHistogram();
    for (const ms of [4, 40, 400, 4_000, 40_000]) addDuration(latency, ms);
    const host = 'a"b\\c\nd';
    const labels = { ingress: "web", host };
    const totals = [
      { series: series("pod", "cpu_percent", { ...web, replica: "0" }), value: 12.5 },
      { series: series("ingress", "req_count", { ...web, labels }), value: 7 },
      { series: series("ingress", "latency_ms", { ...web, labels }), value: latency },
    ];
    const { types, rows } = parseExposition(exposition(totals, "berth"));
    expect([...types]).toEqual([
      ["berth_ingress_latency_seconds", "histogram"],
      ["berth_ingress_req_count_total", "counter"],
      ["berth_pod_cpu_percent", "gauge"],
    ]);
    expect(rows.find(({ name }) => name === "berth_ingress_req_count_total")).toMatchObject({
      labels: { host },
      value: 7,
    });
    const buckets = rows.filter(({ name }) => name === "berth_ingress_latency_seconds_bucket");
    expect(buckets.map(({ labels: { le }, value }) => [le, value])).toEqual([
      ["0.005", 1],
      ["0.01", 1],
      ["0.025", 1],
      ["0.05", 2],
      ["0.1", 2],
      ["0.25", 2],
      ["0.5", 3],
      ["1", 3],
      ["2.5", 3],
      ["5", 4],
      ["10", 4],
      ["+Inf", 5],
    ]);
  });

  test("is there on both planes", async () => {
    const answer = await it.ask("GET /metrics.prom", { token });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
    expect((await it.manage("GET /metrics.prom")).status).toBe(200);
  });
});

test("the operator has the same on the orchestration plane, and the catalogue says how the store is", async () => {
  live();
  const chart = await it.manage("GET /metrics?source=system&metric=cpu_percent&range=15m");
  expect([chart.status, chart.data.metric]).toEqual([200, "cpu_percent"]);
  expect((await it.manage("GET /query?metric=pod.cpu_percent")).status).toBe(200);
  expect((await it.manage("GET /metrics/dump")).text).toContain('"source":"pod"');
  const { data } = await it.manage("GET /metrics/catalogue");
  const { store, tiers } = data as unknown as MetricCatalogue;
  expect(store).toMatchObject({ series: 8, refused: 0, disk: "ok", clock_trusted: true });
  expect(tiers.map(({ name }) => name)).toEqual(["raw", "m1", "m15", "h1"]);
});
