import { metricLimits } from "../config/metric-limits.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Log } from "../base/words/log.ts";
import type { Layout } from "../base/disk/layout.ts";
import type { TakenFigures } from "../ingress/api/taken-figures.ts";
import { createHostCollector, freeBytes } from "../observability/collect/metrics/host.ts";
import { createLoopWatch } from "../observability/collect/metrics/loop.ts";
import { createOwnCollector } from "../observability/collect/metrics/own.ts";
import { createPlaces } from "../observability/collect/metrics/places.ts";
import { createPodCollector } from "../observability/collect/metrics/pods.ts";
import { createVisitCollector } from "../observability/collect/metrics/visits.ts";
import { createMetrics, type MetricsRoom } from "../observability/service/metrics/create.ts";
import type { PodMeasures } from "../orchestration/api/pod-measure.ts";

interface MetricsRoomParts {
  layout: Layout;
  log: Log;
  /** Between two samples; 0 for none at all. */
  intervalMs: number;
  measures: PodMeasures;
  taken: () => TakenFigures[];
}

/** The metrics with all that they are taken from. */
export function createMetricsRoom({ layout, log, intervalMs, measures, taken }: MetricsRoomParts): MetricsRoom {
  const places = createPlaces();
  const loop = createLoopWatch();
  const room = createMetrics({
    file: layout.metricsDatabase,
    clock: systemClock,
    log,
    limits: metricLimits,
    intervalMs,
    places,
    freeBytes: () => freeBytes(layout.root),
    collectors: (onSeen, archive) => [
      createHostCollector(),
      createPodCollector(measures, places, onSeen),
      createVisitCollector(taken),
      createOwnCollector({
        databases: {
          state: layout.database,
          identity: layout.identityDatabase,
          observability: layout.observabilityDatabase,
          metrics: layout.metricsDatabase,
          traces: layout.tracesDatabase,
        },
        archive: () => ({ series: archive().table.size, refused: archive().table.refused }),
        loopLagMs: loop.takeMs,
      }),
    ],
  });
  return {
    ...room,
    run: async (signal) => void (await Promise.all([room.run(signal), loop.run(systemClock, signal)])),
  };
}
