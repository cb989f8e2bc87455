import { expect, test } from "bun:test";
import fc from "fast-check";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logLimits } from "../../src/config/log-limits.ts";
import type { Order } from "../../src/observability/core/logs/cursor.ts";
import { type CompiledQuery, compileQuery } from "../../src/observability/core/logs/query.ts";
import { countLines } from "../../src/observability/store/logs/histogram.ts";
import { type LogStore, openLogStore } from "../../src/observability/store/logs/log-store.ts";
import { missingLines } from "../../src/observability/store/logs/missing.ts";
import { searchLines } from "../../src/observability/store/logs/search.ts";
import { silentLog } from "../support/silent-log.ts";

// Blocks so small that those of an hour are not packed into one.
const limits = { ...logLimits.store, blockBytes: 1 };
const app = { scope: "shop", name: "web" };
const source = { id: "c", pod: "shop-web.c", replica: "c", release: "r1", role: "" };
const hourMs = 3_600_000;
const began = Date.UTC(2026, 0, 31, 13);
const linesPerBlock = 5;
const blocksPerHour = 4;

/** Two hours of four blocks each; line 0 to 39 are a second apart within their hour. */
function written(folder: string): string {
  let now = began;
  const store = openLogStore({ folder, limits, log: silentLog, now: () => now });
  for (let hour = 0; hour < 2; hour++) {
    for (let block = 0; block < blocksPerHour; block++) {
      for (let line = 0; line < linesPerBlock; line++) {
        now += 1_000;
        const number = (hour * blocksPerHour + block) * linesPerBlock + line;
        store.add(app, { at: now, source, stream: "stdout", level: "info", text: `order ${number} paid` });
      }
      store.flush({ all: true });
    }
    now = began + hourMs * (hour + 1);
  }
  return join(folder, "shop/web/2026-01-31T13.blocks");
}

function answer<T>(steps: Generator<void, T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

function found(store: LogStore, query: CompiledQuery, order: Order): number[] {
  const { lines } = answer(searchLines(store, { query, order, limit: 1_000 }, () => false));
  return lines.map(({ text }) => Number(text.split(" ")[1])).sort((a, b) => a - b);
}

test("one flipped bit costs the lines of one block at most, and each answer says that they are missing", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.nat(7),
      fc.constantFrom<Order>("asc", "desc"),
      fc.constantFrom("", "order", "-refunded"),
      (place, bit, order, text) => {
        const folder = mkdtempSync(join(tmpdir(), "log-damage-"));
        try {
          const file = written(folder);
          const bytes = readFileSync(file);
          const at = Math.floor(place * bytes.length);
          bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
          writeFileSync(file, bytes);
          const store = openLogStore({
            folder,
            limits: logLimits.store,
            log: silentLog,
            now: () => began + 2 * hourMs,
          });
          const query = compileQuery({ apps: [], text });
          const lines = found(store, query, order);
          const lost = Array.from({ length: 40 }, (_, line) => line).filter((line) => !lines.includes(line));
          expect(lost.length === 0 || lost.length === linesPerBlock).toBe(true);
          const [missing, ...others] = missingLines(store, query);
          expect(others).toEqual([]);
          if (lost.length === 0) expect(missing).toBeUndefined();
          else {
            const timeOf = (line: number) => began + 1_000 * (line + 1);
            expect(missing?.from).toBeLessThanOrEqual(timeOf(lost[0] ?? 0));
            expect(missing?.until).toBeGreaterThanOrEqual(timeOf(lost.at(-1) ?? 0));
            expect([undefined, linesPerBlock]).toContain(missing?.lines);
          }
          // The sweep packs no file that is damaged: the next server would not know of it.
          store.sweep(undefined);
          const next = openLogStore({ folder, limits, log: silentLog, now: () => began + 2 * hourMs });
          expect(found(next, query, order)).toEqual(lines);
          expect(missingLines(next, query).length).toBe(lost.length === 0 ? 0 : 1);
          const counted = answer(
            countLines(
              next,
              { query: { ...query, from: began, until: began + 2 * hourMs }, bucketsMax: 60 },
              () => false,
            ),
          );
          expect(counted.counts.flat().reduce((sum, count) => sum + count, 0)).toBe(lines.length);
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      },
    ),
    { numRuns: Number(process.env.BERTH_TEST_CASES ?? 75) },
  );
});

test("a query that cannot mean the lost lines misses none", () => {
  const folder = mkdtempSync(join(tmpdir(), "log-damage-"));
  try {
    const file = written(folder);
    const bytes = readFileSync(file);
    bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 1;
    writeFileSync(file, bytes);
    const store = openLogStore({ folder, limits, log: silentLog, now: () => began + 2 * hourMs });
    expect(found(store, compileQuery({ apps: [] }), "asc")).toHaveLength(35);
    for (const asked of [{ apps: ["shop/api"] }, { apps: [], until: began + 10_000 }, { apps: [], replica: "d" }])
      expect(missingLines(store, compileQuery(asked))).toEqual([]);
    expect(missingLines(store, compileQuery({ apps: [] }))).toEqual([
      { app, from: began + 16_000, until: began + 20_000, blocks: 1, lines: 5 },
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
