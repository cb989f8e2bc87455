import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Layout, layoutOf } from "../../../src/base/disk/layout.ts";
import { logLimits } from "../../../src/config/log-limits.ts";
import { layLogs, logsDigest, stageLogs, takeUpLogs } from "../../../src/local/stored-logs.ts";
import { compileQuery } from "../../../src/observability/core/logs/query.ts";
import { type LogStore, openLogStore } from "../../../src/observability/store/logs/log-store.ts";
import { searchLines } from "../../../src/observability/store/logs/search.ts";
import { openMetricsStore } from "../../../src/observability/store/metrics/metrics-store.ts";
import { openTracesStore } from "../../../src/observability/store/traces/traces-store.ts";
import { silentLog } from "../../support/silent-log.ts";

const began = Date.UTC(2026, 0, 31, 13);
const hourMs = 3_600_000;
const source = { id: "c", pod: "shop-web.c", replica: "c", release: "r1", role: "" };
/** A thread of its own is the program as it is run from the sources. */
const self = [process.execPath, join(import.meta.dir, "../../../src/main.ts")];

let folder: string;
let root: Layout;
let now: number;
let warnings: unknown[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-stored-logs-"));
  root = layoutOf(join(folder, "old"));
  [now, warnings] = [began, []];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const heard = { ...silentLog, warn: (...words: unknown[]) => warnings.push(words), error: silentLog.error };
const open = (place: string) =>
  openLogStore({ folder: place, limits: logLimits.store, log: heard as typeof silentLog, now: () => now });

function write(store: LogStore, ...texts: string[]): void {
  for (const text of texts) {
    now += 1_000;
    store.add({ scope: "shop", name: "web" }, { at: now, source, stream: "stdout", level: "info", text });
  }
  store.flush({ all: true });
}

function lines(place: string): string[] {
  const query = compileQuery({ apps: [] });
  const steps = searchLines(open(place), { query, order: "asc", limit: 1_000 }, () => false);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value.lines.map(({ text }) => text).sort();
}

/** Figures and spans of a root, each open as by a server that goes on. */
function openFigures(layout: Layout, tick: number) {
  mkdirSync(layout.root, { recursive: true });
  const fail = (why: string) => {
    throw new Error(why);
  };
  const stores = [
    openMetricsStore(layout.metricsDatabase, fail),
    openTracesStore(layout.tracesDatabase, fail),
  ] as const;
  stores[0].appendTick(tick, []);
  return { ticks: () => stores[0].tail().map(({ at }) => at), close: () => stores.map((one) => one.close()) };
}

function ticksIn(file: string): number[] {
  const store = openMetricsStore(file, () => undefined);
  try {
    return store.tail().map(({ at }) => at);
  } finally {
    store.close();
  }
}

test("a copy opens whole while lines and figures go on being stored, and comes back beside what is there", async () => {
  expect(logsDigest(root)).toBe("");
  const store = open(join(root.logs, "pods"));
  write(store, "one", "two");
  now = began + hourMs;
  write(store, "three");
  const figures = openFigures(root, 5);
  const digest = logsDigest(root);
  // A block whose write is under way: the copy ends before it.
  const pods = join(root.logs, "pods/shop/web");
  appendFileSync(join(pods, "2026-01-31T14.blocks"), "BLK half of a blo");
  const staged = await stageLogs(root, self);
  figures.close();
  write(store, "too late");
  expect([readdirSync(staged.folder).sort(), digest === logsDigest(root)]).toEqual([
    ["metrics.db", "pods", "traces.db"],
    false,
  ]);
  expect([lines(join(staged.folder, "pods")), warnings]).toEqual([["one", "three", "two"], []]);

  // The new machine has stored something of the same hour, and its server was killed.
  const fresh = layoutOf(join(folder, "new"));
  const other = open(join(fresh.logs, "pods"));
  now = began + hourMs;
  write(other, "of the new machine");
  openFigures(fresh, 7);
  mkdirSync(fresh.copies, { recursive: true });
  const lay = () =>
    layLogs(fresh, "0123abcd", async (place) => {
      for (const name of readdirSync(staged.folder)) Bun.spawnSync(["cp", "-r", join(staged.folder, name), place]);
    });
  expect(await lay()).toBe(true);
  await takeUpLogs(fresh, silentLog);
  expect(lines(join(fresh.logs, "pods"))).toEqual(["of the new machine", "one", "three", "two"]);
  expect([ticksIn(fresh.metricsDatabase), ticksIn(`${fresh.metricsDatabase}.before-restore`)]).toEqual([[5], [7]]);
  // The same command, run again, doubles nothing.
  expect(await lay()).toBe(false);
  await takeUpLogs(fresh, silentLog);
  expect(lines(join(fresh.logs, "pods"))).toHaveLength(4);
  await staged.close();
  expect(existsSync(staged.folder)).toBe(false);
}, 60_000);

test("a start that was killed while it took a copy up goes on; what cannot be copied is said and leaves nothing", async () => {
  const [from, to] = [openFigures(layoutOf(join(folder, "copy")), 5), openFigures(root, 7)];
  from.close();
  to.close();
  await layLogs(root, "0123abcd", async (place) => {
    const copied = open(join(place, "pods"));
    write(copied, "one");
    for (const name of ["metrics.db", "traces.db"]) renameSync(join(folder, "copy", name), join(place, name));
  });
  // As after the first two steps.
  renameSync(root.metricsDatabase, `${root.metricsDatabase}.before-restore`);
  await takeUpLogs(root, silentLog);
  expect([lines(join(root.logs, "pods")), ticksIn(root.metricsDatabase)]).toEqual([["one"], [5]]);
  // As after all but the last step.
  mkdirSync(join(root.copies, "restored-logs", "pods"), { recursive: true });
  await takeUpLogs(root, silentLog);
  expect(readdirSync(root.copies)).toEqual(["restored-logs.id"]);

  rmSync(root.tracesDatabase);
  await Bun.write(root.tracesDatabase, "not a database, and longer than the head of one");
  await expect(stageLogs(root, self)).rejects.toThrow(/logs and figures cannot be copied: .*traces\.db/);
  expect(readdirSync(root.copies)).toEqual(["restored-logs.id"]);
}, 60_000);
