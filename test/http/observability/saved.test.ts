import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Board } from "../../../src/observability/api/boards.ts";
import type { LogSearch } from "../../../src/observability/api/log-searches.ts";
import { observabilityLimits } from "../../../src/config/observability-limits.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

const open = { burst: 1_000_000, perMinute: 1_000_000 };
const { boards: boardLimits, searches: searchLimits } = observabilityLimits.saved;

let it: PlaneWorld;
beforeEach(() => {
  it = planeWorld({
    limits: {
      rates: { ...observabilityLimits.rates, actions: open },
      saved: { searches: { ...searchLimits, countMax: 2 }, boards: { ...boardLimits, bytesMax: 600 } },
    },
  });
});
afterEach(() => it.close());

const chart = { title: "CPU", metric: "pod.cpu_percent", unit: "percent" };

test("a search that one token saved is there for others, and for an operator", async () => {
  const writer = await it.token(["read", "actions"]);
  const body = { q: "timeout status>=500", app: "shop/web", level: "error", from: "1h" };
  const saved = await it.ask("PUT /logs/searches/failed-payments", { token: writer, body });
  expect([saved.status, saved.data]).toMatchObject([
    200,
    { ...body, name: "failed-payments", updated_by: `pat:${writer.slice(4, 10)}` },
  ]);
  const seen = await it.ask("GET /logs/searches", { token: await it.token() });
  expect((seen.data.searches as LogSearch[]).map(({ name }) => name)).toEqual(["failed-payments"]);
  expect((await it.manage("DELETE /logs/searches/failed-payments")).status).toBe(200);
  expect((await it.ask("GET /logs/searches", { token: writer })).data).toEqual({ searches: [] });
  const gone = await it.manage("DELETE /logs/searches/failed-payments");
  expect([gone.status, gone.error]).toEqual([
    404,
    'there is no saved search "failed-payments"; list them with: berth searches',
  ]);
});

test.each([
  [{ q: "/[/" }, "q: "],
  [{ app: "shop/web/1" }, "app: "],
  [{ level: "loud" }, 'level: unknown level "loud"'],
  [{ from: "yesterday" }, 'from: "yesterday" is not a duration'],
  [{ colour: "red" }, "colour: "],
])("a search that cannot be run is refused: %j", async (body, fault) => {
  const answer = await it.manage("PUT /logs/searches/a", body);
  expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(fault)]);
});

test("names and counts of searches have limits, and one that is there can be replaced", async () => {
  expect((await it.manage("PUT /logs/searches/Upper", { q: "a" })).error).toContain('name "Upper" of a saved search');
  for (const name of ["a", "b", "a"])
    expect((await it.manage(`PUT /logs/searches/${name}`, { q: "a" })).status).toBe(200);
  const third = await it.manage("PUT /logs/searches/c", { q: "a" });
  expect([third.status, third.error]).toEqual([409, expect.stringContaining("delete one first")]);
});

test("boards of the server are there from the start and stay as they are", async () => {
  const { data } = await it.manage("GET /boards");
  expect((data.boards as Board[]).map(({ name, built_in: builtIn }) => [name, builtIn])).toEqual([
    ["apps", true],
    ["machine", true],
  ]);
  for (const request of ["PUT /boards/apps", "DELETE /boards/apps"])
    expect((await it.manage(request, { charts: [chart] })).status).toBe(409);
});

test("a board is saved, read, replaced and deleted", async () => {
  await it.manage("PUT /boards/night", { charts: [chart] });
  await it.manage("PUT /boards/night", { title: "Night shift", charts: [{ ...chart, agg: "sum", group_by: "app" }] });
  const { data } = await it.manage("GET /boards/night");
  expect(data).toMatchObject({ title: "Night shift", built_in: false, charts: [{ group_by: "app" }] });
  expect((await it.manage("DELETE /boards/night")).status).toBe(200);
  expect((await it.manage("GET /boards/night")).status).toBe(404);
});

test.each([
  [
    { charts: [chart, { ...chart, metric: "pod.cpu_persent" }] },
    'charts[1].metric: "cpu_persent" is not a metric of pod',
  ],
  [{ charts: [{ ...chart, agg: "median" }] }, 'charts[0].agg: "median" cannot be computed'],
  [{ charts: [{ ...chart, where: "host" }] }, 'charts[0].where: "host" is not LABEL=VALUE'],
  [{ charts: [{ ...chart, unit: "apples" }] }, "charts[0].unit"],
  [{ charts: [] }, "charts"],
  [{ charts: Array.from({ length: 14 }, () => chart) }, "at most 600 are allowed"],
])("a board that cannot be shown is refused: %j", async (body, fault) => {
  const answer = await it.manage("PUT /boards/a", body);
  expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(fault)]);
});

test("a token that is limited to apps sees nothing that names others, and saves nothing", async () => {
  await it.manage("PUT /logs/searches/mine", { app: "shop/web" });
  await it.manage("PUT /logs/searches/theirs", { app: "back" });
  await it.manage("PUT /boards/theirs", { charts: [{ ...chart, app: "back/api" }] });
  const token = await it.token(["read", "actions"], { apps: ["shop"] });
  const { data } = await it.ask("GET /logs/searches", { token });
  expect((data.searches as LogSearch[]).map(({ name }) => name)).toEqual(["mine"]);
  const boards = (await it.ask("GET /boards", { token })).data.boards as Board[];
  expect(boards.map(({ name }) => name)).toEqual(["apps", "machine"]);
  expect((await it.ask("GET /boards/theirs", { token })).status).toBe(404);
  expect((await it.ask("PUT /logs/searches/new", { token, body: { q: "a" } })).status).toBe(403);
  expect((await it.ask("DELETE /boards/theirs", { token })).status).toBe(403);
});
