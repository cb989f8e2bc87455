import { expect, test } from "bun:test";
import { createCustomSeries } from "../../../../../src/observability/service/metrics/custom-series.ts";

const hour = 3_600_000;
const limits = { customSeriesPerAppMax: 3, customKeptPerAppMax: 5, customKeptMax: 8, customActiveMs: 48 * hour };

test("an app at its cap has room again when its series have been quiet, until its past fills the larger cap", () => {
  const custom = createCustomSeries(limits);
  for (const id of [1, 2, 3]) custom.seen("shop/web", id, hour);
  expect([custom.hasRoom("shop/web", hour), custom.hasRoom("shop/api", hour)]).toEqual([false, true]);
  const later = 60 * hour;
  expect(custom.hasRoom("shop/web", later)).toBe(true);
  for (const id of [4, 5]) custom.seen("shop/web", id, later);
  expect(custom.hasRoom("shop/web", later)).toBe(false);
  custom.forget("shop/web", 1);
  expect(custom.hasRoom("shop/web", later)).toBe(true);
});

test("all apps together leave room for what the server measures itself", () => {
  const custom = createCustomSeries(limits);
  for (let id = 0; id < 8; id++) custom.seen(`shop/app${id % 4}`, id, hour);
  expect(custom.hasRoom("shop/new", hour)).toBe(false);
});
