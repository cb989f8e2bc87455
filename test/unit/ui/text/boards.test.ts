import { describe, expect, test } from "bun:test";
import { metricOf } from "../../../../src/observability/core/metrics/catalogue.ts";
import { builtInBoards } from "../../../../src/observability/core/boards.ts";
import {
  appBoard,
  boardText,
  draftOf,
  linesOf,
  moved,
  onWall,
  ownBoard,
  readBoard,
} from "../../../../src/ui/text/boards.ts";

describe("boards", () => {
  test("ask only for metrics that the server collects", () => {
    const asked = [...builtInBoards.flatMap(({ charts }) => charts), ...appBoard(true), ...appBoard(false)].flatMap(
      ({ metric }) => metric.split(","),
    );
    const unknown = asked.filter((one) => {
      const [source = "", name = ""] = one.split(".");
      return metricOf(source as Parameters<typeof metricOf>[0], name) === undefined;
    });
    expect(unknown).toEqual([]);
  });

  test("lines have the names of groups, or of the metrics where there are none", () => {
    const line = (group: Record<string, string>) => ({ group, values: [1, null] });
    const names = (...args: Parameters<typeof linesOf>) => linesOf(...args).map(({ name }) => name);
    expect(
      names([{ metric: "pod.cpu_percent", series: [line({ app: "shop/web" }), line({ app: "shop/api" })] }]),
    ).toEqual(["shop/web", "shop/api"]);
    expect(
      names(
        [
          { metric: "a.rx", series: [line({})] },
          { metric: "a.tx", series: [line({})] },
        ],
        ["received"],
      ),
    ).toEqual(["received", "tx"]);
    expect(
      names([
        { metric: "a.rx", series: [line({ device: "eth0" })] },
        { metric: "a.tx", series: [line({ device: "eth0" })] },
      ]),
    ).toEqual(["eth0 rx", "eth0 tx"]);
  });

  test("a wall shows the boards of its link, each for its time, by the clock", () => {
    const at = (now: number, names = "", every = "20s") => onWall(builtInBoards, { names, every, now }).board?.name;
    expect([at(0), at(19_999), at(20_000), at(40_000)]).toEqual(["apps", "apps", "machine", "apps"]);
    expect([at(0, "machine,gone"), at(20_000, "machine"), at(0, "gone")]).toEqual(["machine", "machine", undefined]);
    expect([at(59_999, "", "1m"), at(60_000, "", "1m"), at(4_999, "", "0s"), at(5_000, "", "0s")]).toEqual([
      "apps",
      "machine",
      "apps",
      "machine",
    ]);
  });

  test("a board as text is the same board again", () => {
    const [{ title, charts }] = builtInBoards;
    expect(readBoard(boardText(builtInBoards[0]))).toEqual({ title, charts });
    expect(() => readBoard("{")).toThrow("This is not JSON");
  });
});

test("what an app sends itself has a chart each, in the form of its type", () => {
  const metrics = [
    { source: "pod", name: "cpu_percent", type: "gauge" },
    { source: "custom", name: "orders_total", type: "counter" },
    { source: "custom", name: "http.server.request.duration_ms_histogram", type: "histogram" },
    { source: "custom", name: "queue.length", type: "gauge" },
  ];
  expect(ownBoard(metrics, false).map(({ title, metric, agg, unit }) => [title, metric, agg, unit])).toEqual([
    ["orders_total", "custom.orders_total", "rate", "rate"],
    ["http.server.request.duration, p95", "custom.http.server.request.duration_ms_histogram", ...["p95", "ms"]],
    ["queue.length", "custom.queue.length", "avg", "count"],
  ]);
  expect(ownBoard(metrics, true).every((chart) => chart.group_by === "replica")).toBe(true);
});

test("a form shows what is a board, and moves its charts", () => {
  const charts = ["a", "b", "c"].map((title) => ({
    title,
    metric: "pod.cpu_percent",
    unit: "percent" as const,
    app: "x",
  }));
  const draft = draftOf(boardText({ title: "Night", charts }));
  expect(draft).toEqual({ title: "Night", charts });
  expect(boardText({ title: "", charts })).not.toContain('"title": ""');
  for (const text of ["{", "[]", '{"charts":{}}', '{"charts":[1]}', '{"title":1,"charts":[]}', "null"]) {
    expect([text, draftOf(text)]).toEqual([text, undefined]);
  }
  const order = (list: readonly { title: string }[]) => list.map(({ title }) => title).join("");
  expect([order(moved(charts, 0, 1)), order(moved(charts, 2, -1)), order(moved(charts, 1, 1))]).toEqual([
    "bac",
    "acb",
    "acb",
  ]);
});
