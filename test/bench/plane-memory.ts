import { layoutOf } from "../../src/base/disk/layout.ts";
import { metricLimits } from "../../src/config/metric-limits.ts";
import type { MetricAnswers } from "../../src/observability/api/metrics.ts";
import type { Series } from "../../src/observability/core/metrics/series.ts";
import { openArchive } from "../../src/observability/service/metrics/archive.ts";

import { builtInBoards } from "../../src/observability/core/boards.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createMetricWorld } from "../support/metric-world.ts";
import { type PlaneServer, startPlaneServer } from "../support/plane-server.ts";
import { silentLog } from "../support/silent-log.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

/** BERTH_BENCH_HOURS=168 is the week that the promise is about. */
const hours = Number(process.env.BERTH_BENCH_HOURS ?? 24);
const pods = 20;
const sampleMs = 15_000;
const settleMs = 3_000;
const mib = 1024 * 1024;

/** Resident memory of the server with a history of 20 pods, after its boards were asked for, beside one without a history. */
export async function run(): Promise<BenchRow[]> {
  const baseline = await memoryOf(await startPlaneServer());
  const value = await memoryOf(await startPlaneServer(history), pods);
  const name = `memory of the server, history of ${pods} pods and ${hours} h`;
  return [{ name, value, unit: "MiB", baseline, ratio: value / baseline, wanted: "value <= 120" }];
}

/** `apps`: how many have a history. */
async function memoryOf(plane: PlaneServer, apps = 0): Promise<number> {
  try {
    const Authorization = `Bearer ${await plane.token()}`;
    for (const range of ["1h", "24h", "7d"]) {
      for (const { metric, group_by: by = "app" } of builtInBoards.flatMap(({ charts }) => charts)) {
        const url = `${plane.url}/api/pat/v1/query?metric=${metric}&from=${range}&group_by=${by}`;
        const response = await fetch(url, { headers: { Authorization } });
        const text = await response.text();
        if (response.status !== 200) throw new Error(text);
        if (!metric.startsWith("pod.")) continue;
        const { data } = JSON.parse(text) as { data: MetricAnswers };
        const shown = data.results.map(({ series }) =>
          series.filter(({ values }) => values.some((one) => one !== null)),
        );
        mustBe(
          `apps in ${metric} of ${range}`,
          shown.map(({ length }) => length),
          [apps],
        );
      }
    }
    await Bun.sleep(settleMs);
    return plane.memoryBytes() / mib;
  } finally {
    await plane.close();
  }
}

/** Samples up to now, as a server that was there all the time has them. */
async function history(root: string): Promise<void> {
  const clock = createFakeClock(Date.now() - hours * 3_600_000);
  const file = layoutOf(root).metricsDatabase;
  const pause = () => Promise.resolve();
  const archive = openArchive({ file, clock, log: silentLog, freeBytes: () => 1e12, pause, limits: metricLimits });
  const world = createMetricWorld(pods);
  const series = world.names.map((name): Series => {
    const [pod = "", metric = ""] = name.split(" ");
    return { source: "pod", kind: "deployment", scope: "shop", name: pod, replica: "0", metric, labels: {} };
  });
  const rounds = (hours * 3_600_000) / sampleMs;
  for (let round = 1; round <= rounds; round++) {
    const values = world.next();
    archive.record(
      clock.now(),
      series.map((one, index) => ({ series: one, value: values[index] ?? 0 })),
    );
    clock.moveTo(clock.steady() + sampleMs);
    if (round % 240 === 0) await archive.tend();
  }
  archive.close();
}
