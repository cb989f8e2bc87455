import { expect, test } from "bun:test";
import { diskRows, forecastText, pruneEffects } from "../../../../src/ui/text/disk.ts";
import { diskFixture } from "../../../support/ui/operator-fixtures.ts";

test("what fills the disk is sorted by size, without what is empty", () => {
  const { engine, stores } = diskFixture();
  const rows = diskRows({ engine, stores: [...stores, { name: "users", path: "", bytes: 0, cap: "" }] });
  expect(rows.map(({ name }) => name).slice(0, 4)).toEqual(["Volumes", "Images", "Build cache", "Stored logs"]);
  expect(rows.map(({ name }) => name)).not.toContain("Users");
  expect(rows.find(({ name }) => name === "Images")?.more).toContain("1.4 GiB needed by nothing");
});

test("a forecast says when, or honestly that it cannot", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const mount = { mount: "/", used_bytes: 1, total_bytes: 2 };
  const filling = (days: number) =>
    forecastText({ ...mount, forecast: "filling", full_at: new Date(now + days * 86_400_000).toISOString() }, now);
  expect(forecastText({ ...mount, forecast: "history" }, now)).toEqual({ tone: "idle", text: "not enough history" });
  expect(forecastText({ ...mount, forecast: "steady" }, now).text).toBe("not within a year");
  expect([filling(-1), filling(0.5), filling(1.2), filling(12), filling(90)]).toEqual([
    { tone: "bad", text: "now" },
    { tone: "bad", text: "within a day" },
    { tone: "bad", text: "in about 1 day" },
    { tone: "warn", text: "in about 12 days" },
    { tone: "good", text: "in about 90 days" },
  ]);
});

test("a prune names what goes and what stays", () => {
  const images = Array.from({ length: 10 }, (_, at) => ({ ref: `web:${at}`, bytes: 1_048_576 }));
  const effects = pruneEffects({ images, build_cache_bytes: 0, leftovers: [] });
  expect(effects.filter(({ ends }) => ends).length).toBe(9);
  expect(effects.map(({ text }) => text)).toContain("and 2 more images");
  expect(new Set(effects.map(({ text }) => text)).size).toBe(effects.length);
});
