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
import { createDockerRuntime } from "../../src/orchestration/engine/docker/docker.ts";
import { createMemoryRuntime } from "../support/memory-runtime.ts";
import { createLocalEngine } from "../../src/orchestration/engine/local.ts";
import type { Runtime } from "../../src/orchestration/engine/runtime.ts";
import { openStore } from "../../src/orchestration/store/open-store.ts";
import type { RunRecord, Store } from "../../src/orchestration/store/store.ts";
import { cronjob, fixtureImage } from "../support/manifests.ts";
import { testKey } from "../support/store-root.ts";
import { waitFor } from "../support/wait.ts";
import type { BenchRow } from "./row.ts";
import { deliverAll } from "../support/webhooks.ts";

const minuteMs = 60_000;
const allowedMs = 100;

/** How long after their common instant the rows of runs are on disk: the worst of all, with every cron job due at once. */
export async function run(): Promise<BenchRow[]> {
  return [
    await instant("cron: worst of 1,000 at one instant, memory runtime", { count: 1_000, runtime: memoryRuntime }),
    await instant("cron: worst of 50 at one instant, Docker", { count: 50, runtime: dockerRuntime }),
  ];
}

type Names = ReturnType<typeof naming>;

interface Load {
  count: number;
  runtime: (installationId: string, names: Names) => Runtime;
}

function memoryRuntime(installationId: string, names: Names): Runtime {
  const runtime = createMemoryRuntime({ installationId, names });
  runtime.addImage(fixtureImage);
  return runtime;
}

function dockerRuntime(installationId: string, names: Names): Runtime {
  const host = process.env.BERTH_TEST_DOCKER_HOST;
  if (host === undefined) throw new Error("BERTH_TEST_DOCKER_HOST is not set: the engine to measure with");
  return createDockerRuntime({ host, installationId, names });
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
  const late: number[] = [];
  const stopping = new AbortController();
  const { controller, run: work } = createController({
    gate: openGate,
    ...{
      store: timed(store, late),
      engine: createLocalEngine(runtime, names),
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
    await waitFor("all rows", () => late.length >= count, 30_000);
    await controller.deleteScope("bench", { prune: false, actor: "bench" });
    await waitFor("all containers to be gone", async () => (await runtime.list()).length === 0, 120_000);
  } finally {
    stopping.abort();
    await working;
    await runtime.removeNetwork(names.network);
    runtime.close();
    store.close();
    rmSync(layout.root, { recursive: true, force: true });
  }
  const worst = Math.max(...late);
  return { name, value: worst, unit: "ms", baseline: allowedMs, ratio: worst / allowedMs, wanted: "<= 1.0" };
}

/** The store, with a note of how late each scheduled run was on disk. */
function timed(store: Store, late: number[]): Store {
  const write: Store["write"] = async (change) => {
    const result = await store.write(change);
    for (const { instant } of startedIn(result)) if (instant !== undefined) late.push(Date.now() - instant);
    return result;
  };
  return new Proxy(store, { get: (object, name) => (name === "write" ? write : Reflect.get(object, name)) });
}

/** Runs in what a look at cron jobs returned. */
function startedIn(result: unknown): RunRecord[] {
  if (!Array.isArray(result)) return [];
  return result.flatMap((looked: Partial<CronLooked>) => (looked.started ?? []).map(({ run }) => run));
}
