import { expect, test } from "bun:test";
import { readFigures } from "../../../../../src/ingress/core/figures/proxy-figures.ts";
import { info, stat } from "../../../../support/ingress-views.ts";

test("totals of backends and what each server is busy with are read by the names of the columns", () => {
  const { uptimeSeconds, connections, backends } = readFigures(info, stat);
  expect({ uptimeSeconds, connections }).toEqual({ uptimeSeconds: 3600, connections: 7 });
  expect([...backends.keys()]).toEqual(["p1", "t2"]);
  expect(backends.get("p1")).toEqual({
    ...{ requests: 10, failed: 2, bytesIn: 150, bytesOut: 1500, queued: 4, active: 2 },
    servers: new Map([
      ["s1", 2],
      ["s2", 0],
    ]),
  });
});

test("a TCP port counts connections, because it has no answers", () => {
  expect(readFigures(info, stat).backends.get("t2")).toMatchObject({ requests: 5, failed: 0, bytesIn: 70 });
});

test("an answer that cannot be read counts nothing", () => {
  expect(readFigures("Unknown command", "Unknown command\n\n")).toEqual({
    ...{ uptimeSeconds: 0, connections: 0 },
    backends: new Map(),
  });
});
