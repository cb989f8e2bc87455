import { expect, test } from "bun:test";
import { addValues, createHistogram } from "../../../../../src/base/pure/histogram.ts";
import { exposition } from "../../../../../src/observability/core/metrics/exposition.ts";
import type { Sample, Series } from "../../../../../src/observability/core/metrics/series.ts";
import { createTotals } from "../../../../../src/observability/service/metrics/totals.ts";

const sent = (metric: string, value: Sample["value"], labels: Series["labels"] = {}): Sample => ({
  series: {
    ...{ source: "custom", kind: "deployment", scope: "shop", name: "web", replica: "0", metric },
    labels,
  },
  value,
});

test("what apps send is exposed by its type, with names that Prometheus takes, and levels stay between two sendings", () => {
  const durations = createHistogram();
  addValues(durations, 100, 3);
  const totals = createTotals();
  totals.add([sent("orders_total", 2, { "http.route": "/pay" }), sent("queue.length", 7)]);
  totals.add([sent("orders_total", 3, { "http.route": "/pay" }), sent("http.duration_ms_histogram", durations)]);
  const lines = exposition(totals.list(), "berth").split("\n");
  const app = 'kind="deployment",scope="shop",name="web",replica="0"';
  expect(lines).toContain(`berth_custom_orders_total{${app},http_route="/pay"} 5`);
  expect(lines).toContain(`berth_custom_queue_length{${app}} 7`);
  expect(lines).toContain("# TYPE berth_custom_http_duration_seconds histogram");
  expect(lines).toContain(`berth_custom_http_duration_seconds_bucket{${app},le="0.05"} 0`);
  expect(lines).toContain(`berth_custom_http_duration_seconds_bucket{${app},le="0.1"} 3`);
});

test("whatever apps call their metrics and labels, a scraper takes all of it", () => {
  const durations = createHistogram();
  addValues(durations, 100, 1);
  const samples = [
    sent("a.b_total", 1),
    sent("a_b_total", 2),
    sent("queue_seconds", 3),
    sent("queue_ms_histogram", durations, { le: "7", __name__: "x", "1st": "y" }),
    sent("level", 4, { "http.method": "GET", http_method: "POST", "a:b": "1", "a/b": "2" }),
  ];
  const text = exposition(samples, "berth");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const keys = lines.map((line) => line.slice(0, line.lastIndexOf(" ")));
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) {
    const names = [...key.matchAll(/[{,]([^={]*)="/g)].map(([, name = ""]) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^(?!__)[A-Za-z_]\w*$/);
  }
  const types = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
  expect(types).toEqual([...new Set(types)]);
  const app = 'kind="deployment",scope="shop",name="web",replica="0"';
  expect(lines).toContain(`berth_custom_a_b_total{${app}} 1`);
  expect(lines).toContain(`berth_custom_level{${app},http_method="GET;POST",a_b="1;2"} 4`);
  expect(lines).toContain(
    `berth_custom_queue_seconds_histogram_count{${app},label_le="7",label___name__="x",label_1st="y"} 1`,
  );
});

test.each([
  [Number.POSITIVE_INFINITY, "+Inf"],
  [Number.NEGATIVE_INFINITY, "-Inf"],
  [Number.NaN, "NaN"],
  [1e21, "1e+21"],
])("the level %p is written %s, as the text format spells it", (value, text) => {
  const { series } = sent("queue.length", 0);
  const app = 'kind="deployment",scope="shop",name="web",replica="0"';
  expect(exposition([{ series, value }], "berth")).toContain(`berth_custom_queue_length{${app}} ${text}\n`);
});
