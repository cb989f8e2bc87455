import { describe, expect, test } from "bun:test";
import { builtInBoards } from "../../../src/observability/core/boards.ts";
import { detailFixture } from "../../support/ui/app-fixtures.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { openPlayed } from "../../support/ui/browser.ts";
import { overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";
import { takePictures } from "../../support/ui/pictures.ts";

const points = 120;
const until = Date.now();
const wave = (seed: number, size: number) =>
  Array.from({ length: points }, (_, index) => (index < 6 ? null : size * (1 + Math.sin(index / 9 + seed))));
const result = (metric: string, series: object[]) => ({
  metric,
  agg: "avg",
  type: "gauge",
  truncated: false,
  more: 0,
  series,
});

/** Charts in a browser, with a plane that the test plays. */
const { chromium, plane, tab } = await openPlayed({
  "GET /whoami": whoFixture,
  "GET /overview": overviewFixture(),
  "GET /apps/shop/api": detailFixture(),
  "GET /boards": { boards: builtInBoards },
  "GET /metrics/catalogue": {
    metrics: [
      { source: "custom", name: "orders_total", type: "counter", labels: ["route"], series: 2 },
      {
        source: "custom",
        name: "http.server.request.duration_ms_histogram",
        type: "histogram",
        labels: [],
        series: 1,
      },
    ],
  },
  "GET /query": {
    from: new Date(until - points * 30_000).toISOString(),
    until: new Date(until).toISOString(),
    step_seconds: 30,
    results: [
      result("pod.cpu_percent", [
        { group: { app: "shop/web" }, values: wave(1, 20) },
        { group: { app: "shop/api" }, values: wave(3, 12) },
        ...Array.from({ length: 10 }, (_, index) => ({
          group: { app: `many/app-${index}` },
          values: Array.from({ length: points }, () => 100 + index),
        })),
      ]),
    ],
  },
});

describe("metrics", () => {
  test("charts of all apps and the machine, with nothing to set up", async () => {
    await tab.open(`${plane.url}/metrics`);
    await tab.shows("Pressure: time that processes waited");
    await tab.shows("shop/web");
    await takePictures(tab, "metrics");
    expect(await axeFaults(tab)).toEqual([]);
    // Many lines are a list, the greatest first; a press shows one alone. The marks are of all deploys of the span.
    const legend = "[...document.querySelector('.legend').querySelectorAll('button')]";
    expect(await tab.read<string[]>(`${legend}.slice(0, 2).map((one) => one.innerText.split("\\n")[0])`)).toEqual([
      "many/app-9",
      "many/app-8",
    ]);
    await tab.read(`${legend}[0].click()`);
    await tab.read("new Promise((done) => requestAnimationFrame(done)).then(() => true)");
    expect(await tab.read<string[]>(`${legend}.slice(0, 2).map((one) => one.ariaPressed)`)).toEqual(["true", "false"]);
    expect(plane.asked.find(({ path }) => path === "/deploys")?.query).toMatchObject({ since: "1h", history: "true" });
    expect(plane.asked.filter(({ path }) => path === "/query").every(({ query }) => query.from === "1h")).toBe(true);
  });

  test("another span is in the address, and all charts ask for it", async () => {
    await tab.press("24h");
    await tab.at(/from=24h/);
    await tab.shows("shop/web");
    expect(plane.asked.findLast(({ path }) => path === "/query")?.query.from).toBe("24h");
    await tab.read("history.back()");
    await tab.at(/metrics$/);
  });

  test("of one app, by replica where it is wished", async () => {
    await tab.open(`${plane.url}/apps/shop/api/metrics?by=replica`);
    await tab.shows("Time to answer, p99");
    await tab.shows("Sent by the app");
    await tab.shows("http.server.request.duration, p95");
    const asked = plane.asked.filter(({ path, query }) => path === "/query" && query.app === "shop/api");
    expect(asked.find(({ query }) => query.metric === "pod.cpu_percent")?.query.group_by).toBe("replica");
    expect(asked.some(({ query }) => query.metric === "custom.orders_total" && query.agg === "rate")).toBe(true);
    await takePictures(tab, "app-metrics");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("nothing broke the policy", () => expect(chromium.complaints).toEqual([]));
});
