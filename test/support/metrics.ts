import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { metricLimits } from "../../src/config/metric-limits.ts";
import type { Log } from "../../src/base/words/log.ts";
import { createPlaces } from "../../src/observability/collect/metrics/places.ts";
import { createMetrics, type MetricsParts, type MetricsRoom } from "../../src/observability/service/metrics/create.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { silentLog } from "./silent-log.ts";

export interface TestMetrics {
  room: MetricsRoom;
  clock: FakeClock;
  remove(): void;
}

/** The metrics over a database of their own, and a clock that stands still. */
export function testMetrics(
  options: { clock?: FakeClock; log?: Log; collectors?: MetricsParts["collectors"]; intervalMs?: number } = {},
): TestMetrics {
  const folder = mkdtempSync(join(tmpdir(), "metrics-"));
  const clock = options.clock ?? createFakeClock();
  const room = createMetrics({
    file: join(folder, "metrics.db"),
    clock,
    log: options.log ?? silentLog,
    limits: metricLimits,
    intervalMs: options.intervalMs ?? 15_000,
    freeBytes: () => 1e12,
    places: createPlaces(),
    collectors: options.collectors ?? (() => []),
  });
  return { room, clock, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
