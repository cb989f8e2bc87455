import { describe, expect, test } from "bun:test";
import { metricOf } from "../../../../src/observability/core/metrics/catalogue.ts";
import { appBoard, appsBoard, hostBoard, linesOf } from "../../../../src/ui/text/boards.ts";

describe("boards", () => {
  test("ask only for metrics that the server collects", () => {
    const asked = [...hostBoard, ...appsBoard, ...appBoard(true), ...appBoard(false)].flatMap(({ metric }) =>
      metric.split(","),
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
});
