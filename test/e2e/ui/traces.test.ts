import { describe, expect, test } from "bun:test";
import type { SpanView, TracePage, TraceView } from "../../../src/observability/api/traces.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { openPlayed } from "../../support/ui/browser.ts";
import { overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";
import { hostileTexts } from "../../support/ui/hostile.ts";
import { takePictures } from "../../support/ui/pictures.ts";

const id = "5b8efff798038103d269b633813fc60c";
const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();

const row = (index: number, more: Partial<TracePage["traces"][number]> = {}) => ({
  trace_id: index === 0 ? id : `${index}`.repeat(32),
  at: at(20 * index + 4),
  duration_ms: 12 * (index + 1),
  root: "GET /cart",
  apps: ["shop/web"],
  spans: 4,
  errors: 0,
  ...more,
});
const page: TracePage = {
  traces: [
    row(0, { root: "POST /pay", apps: ["shop/web", "shop/worker"], spans: 5, errors: 1, duration_ms: 1_240 }),
    ...[1, 2, 3, 4].map((index) => row(index)),
  ],
  cursor: `1700000000000000.${"a".repeat(32)}`,
};
const span = (name: string, depth: number, offset: number, duration: number, more: Partial<SpanView> = {}) => ({
  ...{ span_id: `${name}${offset}`, name, depth, kind: "server", scope: "shop", app: "web", service: "storefront" },
  ...{ replica_id: "a1b2", at: at(4), offset_ms: offset, duration_ms: duration, error: false },
  ...{ attributes: { "http.route": "/pay", "http.response.status_code": 500 }, events: [] },
  ...more,
});
const trace: TraceView = {
  ...row(0, { root: "POST /pay", apps: ["shop/web", "shop/worker"], spans: 5, errors: 1, duration_ms: 1_240 }),
  tree: [
    span("POST /pay", 0, 0, 1_240),
    span("SELECT carts", 1, 6, 0.42, { kind: "client" }),
    span("charge", 1, 12, 1_180, {
      ...{ app: "worker", service: "worker", error: true, message: "the card was declined" },
      events: [{ offset_ms: 900, name: "exception", attributes: { "exception.type": "Declined" } }],
    }),
    span("POST https://bank.example/charges", 2, 20, 1_150, { app: "worker", kind: "client" }),
    span("render", 1, 1_200, 32, { kind: "internal" }),
  ],
  more: 0,
};
const line = {
  ...{
    at: at(4),
    scope: "shop",
    name: "web",
    pod: "shop-web.a1b2",
    replica_id: "a1b2",
    stream: "otlp",
    level: "error",
  },
  text: JSON.stringify({ message: "payment failed", trace_id: id }),
};

/** Traces in a browser, with a plane that the test plays. */
const { plane, tab } = await openPlayed({
  "GET /whoami": whoFixture,
  "GET /overview": overviewFixture(),
  "GET /traces": page,
  [`GET /traces/${id}`]: trace,
  "GET /logs/search": { lines: [line] },
  "GET /logs/context": { before: [], after: [] },
  "GET /logs/histogram": { from: at(60), until: at(0), interval_ms: 1_000, total: 1, buckets: [], partial: false },
});

describe("traces", () => {
  test("the list shows what failed and what was slow, and is filtered by its address", async () => {
    await tab.open(`${plane.url}/traces`);
    await tab.shows("POST /pay");
    await tab.shows("1 error");
    await takePictures(tab, "traces");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.open(`${plane.url}/traces?app=shop/web&error=true&min_duration=1s`);
    await tab.shows("POST /pay");
    const asked = () => plane.asked.findLast(({ path }) => path === "/traces")?.query;
    expect(asked()).toEqual({ app: "shop/web", error: "true", min_duration: "1s" });
    await tab.shows("berth traces shop/web --min-duration 1s --error");
    await tab.press("Older");
    await tab.shows("Newer");
    expect(asked()?.cursor).toBe(page.cursor);
  });

  test("a trace is a waterfall that opens to what is known of a span, and leads to its log lines and back", async () => {
    await tab.open(`${plane.url}/traces/${id}`);
    await tab.shows("POST https://bank.example/charges");
    await takePictures(tab, "trace");
    await tab.read("document.querySelectorAll('.waterfall details')[2].open = true");
    await tab.shows("the card was declined");
    await tab.shows("exception at");
    expect(await axeFaults(tab)).toEqual([]);
    await takePictures(tab, "trace-open");
    await tab.press("Lines of this trace");
    await tab.shows("payment failed");
    expect(plane.asked.findLast(({ path }) => path === "/logs/search")?.query.q).toBe(`trace_id=${id}`);
    await tab.click(".log .line");
    await tab.press("Show the trace");
    await tab.shows("POST https://bank.example/charges");
  });

  test("without traces the page says how to get some, and hostile texts stay text", async () => {
    plane.answers["GET /traces"] = { traces: [] };
    await tab.open(`${plane.url}/traces`);
    await tab.shows("telemetry: true");
    expect(await axeFaults(tab)).toEqual([]);
    const [hostile = ""] = hostileTexts;
    plane.answers["GET /traces"] = { traces: [row(0, { root: hostile, apps: [hostile] })] };
    await tab.open(`${plane.url}/traces`);
    await tab.shows("12 ms");
    expect(await tab.read<string>("document.querySelector('.table a').textContent")).toBe(hostile);
  });
});
