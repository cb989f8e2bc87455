import { expect, test } from "bun:test";
import { askLogs, errorLines } from "../../../../../src/observability/service/alerts/open.ts";
import type { LogsRoom } from "../../../../../src/observability/service/logs/create.ts";

const line = (second: number, text: string, name = "web") => ({
  ...{
    at: `2026-01-01T00:00:0${second}.000Z`,
    scope: "shop",
    name,
    pod: "p",
    replica_id: "a",
    stream: "stdout",
    level: "error",
  },
  text,
});

function room(lines: ReturnType<typeof line>[]) {
  const asked: unknown[] = [];
  const search = async (_: unknown, query: unknown) => {
    asked.push(query);
    return { lines };
  };
  // Only the search is used.
  return { asked, logs: { search } as unknown as LogsRoom };
}

test("lines that hold a text are counted by app, and the text is taken as it is", async () => {
  const { asked, logs } = room([line(1, "a"), line(2, "b"), line(3, "c", "api")]);
  const values = await askLogs(logs, { pattern: 'say "no" \\ level=x', withinMs: 300_000, level: "warn" });
  expect(values).toEqual([
    { labels: { scope: "shop", name: "web" }, value: 2 },
    { labels: { scope: "shop", name: "api" }, value: 1 },
  ]);
  expect(asked).toEqual([{ q: '"say \\"no\\" \\\\ level=x"', from: "300s", limit: "1000", level: "warn" }]);
});

test("errors of a timeline are in order, and what repeats is one entry", async () => {
  const { logs } = room([line(3, "no database"), line(2, "no database"), line(1, "starting")]);
  const entries = await errorLines(logs, "shop/web", { from: 0, to: 1 });
  expect(entries.map(({ text }) => text)).toEqual(["starting", "no database (2 times)"]);
});
