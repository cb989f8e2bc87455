import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { logLimits } from "../../src/config/log-limits.ts";
import { metricLimits } from "../../src/config/metric-limits.ts";
import { type Capture, createCapture } from "../../src/observability/collect/logs/capture.ts";
import type { Series } from "../../src/observability/core/metrics/series.ts";
import { type Archive, openArchive } from "../../src/observability/service/metrics/archive.ts";
import { type LogStore, openLogStore } from "../../src/observability/store/logs/log-store.ts";
import { createFakeClock, testEpoch } from "./fake-clock.ts";
import { silentLog } from "./silent-log.ts";

/** The stores of metrics and logs in a folder, with one pod whose log is read, as they are in the server. */
export interface Observed {
  archive: Archive;
  store: LogStore;
  capture: Capture;
  series: readonly Series[];
  now(): number;
  /** The time of sample `n`, 15 seconds after the one before it. */
  clockTo(n: number): void;
  close(): void;
}

export function observed(root: string): Observed {
  const clock = createFakeClock();
  const limits = { ...metricLimits, sealGraceMs: 0 };
  const pause = () => Promise.resolve();
  const archive = openArchive({
    ...{ file: join(root, "metrics.db"), clock, log: silentLog, freeBytes: () => 1e12, pause, limits },
  });
  const { now } = clock;
  const store = openLogStore({ folder: join(root, "logs"), limits: logLimits.store, log: silentLog, now });
  const capture = createCapture({ sink: store, limits: logLimits.capture, log: silentLog, now, steady: clock.steady });
  const path = join(root, "pod-json.log");
  closeSync(openSync(path, "a"));
  capture.watch([
    {
      app: { scope: "shop", name: "web" },
      source: { id: "pod", pod: "shop-web.pod", replica: "pod", release: "r1", role: "" },
      ...{ path, running: true },
    },
  ]);
  const web = { source: "pod", kind: "deployment", scope: "shop", name: "web", replica: "0", labels: {} } as const;
  return {
    ...{ archive, store, capture, now },
    series: ["cpu_percent", "mem_usage_bytes", "pids"].map((metric) => ({ ...web, metric })),
    clockTo: (n) => clock.moveTo(testEpoch + n * 15_000),
    close() {
      capture.close();
      archive.close();
    },
  };
}
