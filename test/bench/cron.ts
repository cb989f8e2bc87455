import { Database } from "bun:sqlite";
import { openGate } from "../support/open-gate.ts";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../src/config/config.ts";
import type { CronLooked } from "../../src/orchestration/controller/runs/cron-look.ts";
import { createController } from "../../src/orchestration/controller/create.ts";
import { mapSecrets } from "../../src/orchestration/core/mask.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createAssets } from "../../src/base/disk/assets.ts";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { prepareRoot } from "../../src/base/disk/root.ts";
import { systemClock } from "../../src/base/words/clock.ts";
import { createLog } from "../../src/base/words/log.ts";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import { createMemoryRuntime } from "../support/memory-runtime.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import { openStore } from "../../src/orchestration/store/open-store.ts";
import type { RunRecord, Store } from "../../src/orchestration/store/store.ts";
import { cronjob, fixtureImage } from "../support/manifests.ts";
import { testKey } from "../support/store-root.ts";
import { waitFor } from "../support/wait.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";
import { deliverAll } from "../support/webhooks.ts";

const minuteMs = 60_000;

/**
 * How long after their common instant the rows of runs are on disk: the worst of all, with every cron job due at once.
 * Beside it, as many rows in one commit of a bare connection.
 */
export async function run(): Promise<BenchRow[]> {
  return [
    await instant("cron: worst of 1,000 at one instant, memory runtime", { count: 1_000, runtime: memoryRuntime }),
    await instant("cron: worst of 50 at one instant, Docker", { count: 50, runtime: dockerRuntime }),
  ];
}

type Names = ReturnType<typeof naming>;

interface Load {
  count: number;
  runtime: (installationId: string, names: Names) => Engine;
}

function memoryRuntime(installationId: string, names: Names): Engine {
  const runtime = createMemoryRuntime({ installationId, names });
  runtime.addImage(fixtureImage);
  return runtime;
}

function dockerRuntime(installationId: string, names: Names): Engine {
  const host = process.env.BERTH_TEST_DOCKER_HOST;
  if (host === undefined) throw new Error("BERTH_TEST_DOCKER_HOST is not set: the engine to measure with");
  return createDockerEngine({ host, installationId, names });
}

async function instant(name: string, { count, runtime: makeRuntime }: Load): Promise<BenchRow> {
  const layout = layoutOf(mkdtempSync(join(tmpdir(), "bench-cron-")));
  await prepareRoot(layout);
  const log = createLog((line) => process.stderr.write(line), "error");
  const onListenerError = (error: unknown) => log.error("store listener failed", { error });
  const paths = { path: layout.database, lockPath: layout.lock };
  const store = openStore({ ...paths, key: testKey, mapSecrets, limits, onListenerError });
  const names = naming(`bc${randomBytes(3).toString("hex")}`);
  const runtime = makeRuntime(store.installationId, names);
  const late: Late[] = [];
  const baseline = bareCommit(join(layout.root, "bare.db"), count);
  const stopping = new AbortController();
  const { controller, run: work } = createController({
    gate: openGate,
    ...{
      store: timed(store, late),
      engine: runtime,
      assets: createAssets(layout.assets),
      layout,
      names,
      log,
      limits,
    },
    clock: systemClock,
    statsIntervalMs: 0,
    randomBytes: (bytes) => randomBytes(bytes),
    fetch: (url, { signal }) => fetch(url, { signal }),
    download: async () => Buffer.from(""),
    sendWebhook: deliverAll,
    about: { version: "bench", dockerHost: "", startedAt: Date.now() },
  });
  const working = work(stopping.signal);
  try {
    // Not in the seconds before an instant: applying takes some.
    if (minuteMs - (Date.now() % minuteMs) < 15_000) await Bun.sleep(15_000);
    // Half of them in a zone whose clocks change, which takes a closer look.
    const jobs = Array.from({ length: count }, (_, n) =>
      cronjob("bench", `tick${n}`, { timezone: n % 2 === 0 ? "UTC" : "Europe/Berlin" }, { command: ["true"] }),
    );
    await controller.apply(jobs, { dryRun: false, prune: false, actor: "bench" });
    await Bun.sleep(minuteMs - (Date.now() % minuteMs));
    const [first = 0] = await waitFor(
      "all rows",
      () => late.length >= count && late.map(({ instant }) => instant),
      30_000,
    );
    const due = late.filter(({ instant }) => instant === first);
    const seen = new Set(due.map(({ job }) => job));
    mustBe("cron jobs with one run at the instant", [seen.size, due.length], [count, count]);
    for (const { name } of jobs) mustBe(`stored runs of ${name} at the instant`, runsAt(store, name, first), 1);
    await controller.deleteScope("bench", { prune: false, actor: "bench" });
    await waitFor("all containers to be gone", async () => (await runtime.observe()).length === 0, 120_000);
  } finally {
    stopping.abort();
    await working;
    runtime.close();
    store.close();
    rmSync(layout.root, { recursive: true, force: true });
  }
  const worst = Math.max(...late.map(({ ms }) => ms));
  return { name, value: worst, unit: "ms", baseline, ratio: worst / baseline, wanted: "value <= 100" };
}

function runsAt(store: Store, name: string, instant: number): number {
  const runs = store.runs.list({ kind: "cronjob", scope: "bench", name });
  return runs.filter((run) => run.instant === instant).length;
}

/** Milliseconds for `count` rows of runs in one durable commit. */
function bareCommit(path: string, count: number): number {
  const db = new Database(path, { create: true });
  db.run("pragma journal_mode = wal");
  db.run("pragma synchronous = full");
  db.run("create table runs (id text primary key, name text not null, instant integer not null) strict");
  const put = db.query("insert into runs values (?, ?, ?)");
  const all = db.transaction(() => {
    for (let index = 0; index < count; index++) put.run(crypto.randomUUID(), `tick${index}`, minuteMs);
  });
  const begun = performance.now();
  all();
  const ms = performance.now() - begun;
  mustBe("bare rows", db.query("select count(*) as rows from runs").get(), { rows: count });
  db.close();
  return ms;
}

interface Late {
  job: string;
  instant: number;
  ms: number;
}

/** The store, with a note of how late each scheduled run was on disk. */
function timed(store: Store, late: Late[]): Store {
  const write: Store["write"] = async (change) => {
    const result = await store.write(change);
    for (const { name, instant } of startedIn(result))
      if (instant !== undefined) late.push({ job: name, instant, ms: Date.now() - instant });
    return result;
  };
  return new Proxy(store, { get: (object, name) => (name === "write" ? write : Reflect.get(object, name)) });
}

/** Runs in what a look at cron jobs returned. */
function startedIn(result: unknown): RunRecord[] {
  if (!Array.isArray(result)) return [];
  return result.flatMap((looked: Partial<CronLooked>) => (looked.started ?? []).map(({ run }) => run));
}
