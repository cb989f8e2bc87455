import { expect, test } from "bun:test";
import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logLimits } from "../../src/config/log-limits.ts";
import { compareLines, type FoundLine, levels, logStreams } from "../../src/observability/core/logs/line.ts";
import { compileQuery, lineFits, type LogQuery } from "../../src/observability/core/logs/query.ts";
import type { Order } from "../../src/observability/core/logs/cursor.ts";
import { type LogStore, openLogStore } from "../../src/observability/store/logs/log-store.ts";
import { searchLines } from "../../src/observability/store/logs/search.ts";
import { silentLog } from "../support/silent-log.ts";

const words = [
  "timeout",
  "connect",
  "ECONNREFUSED",
  "user",
  "order",
  "Éclair",
  "a1b2c3d4e5f60718",
  "status=500",
  "ok",
  "0f",
];
const text = fc.oneof(
  fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((parts) => parts.join(" ")),
  fc
    .record({ level: fc.constantFrom("info", "error"), msg: fc.constantFrom(...words), n: fc.nat(20) })
    .map((o) => JSON.stringify(o)),
  fc.string({ unit: "binary", maxLength: 30 }).map((any) => any.replaceAll("\n", " ").toWellFormed()),
);
const line: fc.Arbitrary<FoundLine> = fc.record({
  app: fc.constantFrom({ scope: "shop", name: "web" }, { scope: "shop", name: "api" }),
  at: fc.nat(40).map((at) => 1_700_000_000_000 + at),
  source: fc.constantFrom("a", "b").map((id) => ({ id, pod: `pod-${id}`, replica: id, release: "r1", role: "" })),
  stream: fc.constantFrom(...logStreams),
  level: fc.constantFrom(...levels),
  text,
});
const query: fc.Arbitrary<LogQuery> = fc.record(
  {
    text: fc.constantFrom(
      "timeout",
      "CONN",
      "conn",
      "-user",
      "n>=10",
      "msg=user",
      "/o.d/",
      "/TIME/i",
      "a1b2c3d4e5f60718",
      "éclair",
      "level>=warn",
      '"status=500"',
      "replica=a",
      "-app=shop/web",
      "éc user",
    ),
    apps: fc.constantFrom([], ["shop"], ["shop/web"]),
    from: fc.nat(40).map((at) => 1_700_000_000_000 + at),
    until: fc.nat(40).map((at) => 1_700_000_000_000 + at),
    level: fc.constantFrom(...levels),
    stream: fc.constantFrom(...logStreams),
  },
  { requiredKeys: ["apps"] },
);
/** After how many lines what happens. */
const deeds = fc.array(
  fc.record({ after: fc.integer({ min: 1, max: 30 }), deed: fc.constantFrom("flush", "seal", "reopen") }),
  { maxLength: 6 },
);

test("a search finds what a look at every line finds, whatever was written, packed or reopened in between", () => {
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 120 }),
      deeds,
      query,
      fc.constantFrom<Order>("asc", "desc"),
      fc.integer({ min: 1, max: 40 }),
      (lines, steps, asked, order, limit) => {
        const folder = mkdtempSync(join(tmpdir(), "logs-"));
        try {
          const store = filled(folder, lines, steps);
          const compiled = compileQuery(asked);
          const fit = lines.filter((one) => lineFits(compiled, one)).toSorted(compareLines);
          expect(paged(store, { query: compiled, order, limit })).toEqual(order === "asc" ? fit : fit.toReversed());
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      },
    ),
    { numRuns: Number(process.env.BERTH_TEST_CASES ?? 150) },
  );
});

function filled(
  folder: string,
  lines: readonly FoundLine[],
  steps: readonly { after: number; deed: string }[],
): LogStore {
  let now = 1_700_000_000_000;
  const open = () =>
    openLogStore({
      folder,
      limits: logLimits.store,
      log: silentLog,
      now: () => now,
      space: () => ({ freeBytes: 9, totalBytes: 10 }),
    });
  let store = open();
  let at = 0;
  for (const { after, deed } of steps) {
    for (const { app, ...one } of lines.slice(at, at + after)) store.add(app, one);
    at += after;
    store.flush({ all: deed !== "flush" || at % 2 === 0 });
    if (deed === "seal") {
      now += 3_600_000;
      store.sweep(undefined);
    }
    if (deed === "reopen") store = open();
  }
  for (const { app, ...one } of lines.slice(at)) store.add(app, one);
  return store;
}

function paged(
  store: LogStore,
  request: { query: ReturnType<typeof compileQuery>; order: Order; limit: number },
): FoundLine[] {
  const found: FoundLine[] = [];
  let cursor: { at: number; skip: number } | undefined;
  for (let pages = 0; pages < 500; pages++) {
    const run = searchLines(store, { ...request, ...(cursor === undefined ? {} : { cursor }) }, () => false);
    let step = run.next();
    while (step.done !== true) step = run.next();
    found.push(...step.value.lines);
    cursor = step.value.next;
    if (cursor === undefined) return found;
  }
  throw new Error("the pages never end");
}
