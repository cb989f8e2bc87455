import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logLimits } from "../../src/config/log-limits.ts";
import { metricLimits } from "../../src/config/metric-limits.ts";
import { compileQuery } from "../../src/observability/core/logs/query.ts";
import type { Series } from "../../src/observability/core/metrics/series.ts";
import { type ArchiveLimits, openArchive } from "../../src/observability/service/metrics/archive.ts";
import { openLogStore } from "../../src/observability/store/logs/log-store.ts";
import { searchLines } from "../../src/observability/store/logs/search.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { seeded } from "../support/metric-world.ts";
import { silentLog } from "../support/silent-log.ts";

setDefaultTimeout(120_000);

const cases = Math.ceil(Number(process.env.BERTH_TEST_CASES ?? "100") / 10);

function inFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "caps-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const done = work(folder);
  if (done instanceof Promise) return done.finally(remove) as T;
  remove();
  return done;
}

/** Text that cannot be packed: the caps are of bytes on the disk. */
const noise = (random: () => number, length: number) =>
  Array.from({ length }, () => Math.floor(random() * 36).toString(36)).join("");

const writing = fc.record({
  app: fc.nat(3),
  lines: fc.integer({ min: 1, max: 30 }),
  length: fc.integer({ min: 1, max: 400 }),
  waitMinutes: fc.nat(90),
});

test("logs stay below their caps of bytes, and the newest line of all is still there", () => {
  const limits = {
    ...logLimits.store,
    ...{ blockBytes: 2_048, segmentBytesMax: 4_096, bytesMax: 60_000, appBytesMax: 30_000 },
  };
  const pod = { id: "a", pod: "a", replica: "a", release: "", role: "" };
  fc.assert(
    fc.property(fc.array(writing, { minLength: 1, maxLength: 60 }), fc.nat(), (writings, seed) =>
      inFolder((folder) => {
        const random = seeded(seed);
        let now = 1_700_000_000_000;
        const space = () => ({ freeBytes: 9, totalBytes: 10 });
        const store = openLogStore({ folder, limits, log: silentLog, now: () => now, space });
        for (const { app, lines, length, waitMinutes } of writings) {
          const own = { scope: "shop", name: `app-${app}` };
          now += waitMinutes * 60_000 + 1;
          const texts = Array.from({ length: lines }, () => noise(random, length));
          for (const text of texts) store.add(own, { at: now, source: pod, stream: "stdout", level: "none", text });
          store.flush({ all: true });
          store.sweep(now - limits.ageMs);
          expect(store.state().bytes).toBeLessThanOrEqual(limits.bytesMax);
          const ofApp = [...store.segments()].filter((segment) => segment.app.name === own.name);
          expect(ofApp.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(limits.appBytesMax);
          const asked = { query: compileQuery({ apps: [] }), order: "desc", limit: lines } as const;
          const search = searchLines(store, asked, () => false);
          let step = search.next();
          while (step.done !== true) step = search.next();
          expect(step.value.lines.map(({ text }) => text)).toContain(texts.at(-1) ?? "");
        }
      }),
    ),
    { numRuns: cases },
  );
});

const named = (metric: string): Series => ({
  ...{ source: "pod", kind: "deployment", scope: "shop", name: "web", replica: "0", metric, labels: {} },
});

function archiveIn(folder: string, limits: Partial<ArchiveLimits>) {
  const clock = createFakeClock();
  const file = join(folder, "metrics.db");
  const pause = () => Promise.resolve();
  const all = { ...metricLimits, ...limits };
  return { clock, archive: openArchive({ file, clock, log: silentLog, freeBytes: () => 1e12, pause, limits: all }) };
}

const living = fc.record({ hours: fc.integer({ min: 1, max: 12 }), names: fc.nat(150), jumpHours: fc.nat(40) });

test("metrics stay below their caps of bytes and series, whatever comes and however the time goes", async () => {
  const limits = { bytesMax: 1_500_000, seriesMax: 60 };
  await fc.assert(
    fc.asyncProperty(fc.array(living, { minLength: 1, maxLength: 5 }), fc.nat(), (lives, seed) =>
      inFolder(async (folder) => {
        const random = seeded(seed);
        const { clock, archive } = archiveIn(folder, limits);
        for (const { hours, names, jumpHours } of lives) {
          for (let minute = 0; minute < hours * 60; minute++) {
            const samples = Array.from({ length: names }, (_, n) => ({ series: named(`m${n}`), value: random() }));
            archive.record(clock.now(), samples);
            clock.moveTo(clock.steady() + 60_000);
            if (minute % 60 === 59) await archive.tend();
          }
          clock.moveTo(clock.steady() + jumpHours * 3_600_000);
          await archive.tend();
          expect(archive.store.usedBytes()).toBeLessThanOrEqual(limits.bytesMax);
          expect(archive.table.size).toBeLessThanOrEqual(limits.seriesMax);
        }
        archive.close();
      }),
    ),
    { numRuns: Math.ceil(cases / 4) },
  );
});

test("names beyond the limit are counted, and leave nothing in memory", () =>
  inFolder((folder) => {
    const names = Number(process.env.BERTH_TEST_TEXTS ?? "100000");
    const { clock, archive } = archiveIn(folder, { seriesMax: 100 });
    const record = (from: number, to: number) => {
      for (let first = from; first < to; first += 1_000) {
        const some = Array.from({ length: 1_000 }, (_, n) => ({ series: named(`name-${first + n}`), value: 1 }));
        archive.record(clock.now(), some);
      }
    };
    record(0, 10_000);
    Bun.gc(true);
    const before = process.memoryUsage().heapUsed;
    record(10_000, 10_000 + names);
    Bun.gc(true);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(4_000_000);
    expect(archive.table.size).toBe(100);
    expect(archive.table.refused).toBe(names + 10_000 - 100);
    archive.close();
  }));
