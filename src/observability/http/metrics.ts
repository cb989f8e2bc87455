import {
  dumpPlaneMetrics,
  exposePlaneMetrics,
  getPlaneMetrics,
  listPlaneMetrics,
  queryPlaneMetrics,
} from "../api/metrics.ts";
import { linesResponse, textResponse } from "./metric-streams.ts";
import { mountPlane, mountPlaneStream } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

export function mountMetrics(plane: ObservabilityPlane): void {
  const { metrics, streams } = plane.observability;
  mountPlane(plane, getPlaneMetrics, ({ query, grant }) => metrics.chart(query, grant));
  mountPlane(plane, queryPlaneMetrics, ({ query, grant }) => metrics.query(query, grant));
  mountPlane(plane, listPlaneMetrics, ({ query, grant }) => metrics.catalogue(query, grant));
  mountPlaneStream(plane, dumpPlaneMetrics, async ({ query, grant, request }) => {
    const lines = metrics.dump(query, grant);
    const stream = streams.open(grant, request.signal);
    return linesResponse(lines, { contentType: dumpPlaneMetrics.stream ?? "", stream, log: plane.log });
  });
  mountPlaneStream(plane, exposePlaneMetrics, async ({ grant }) =>
    textResponse(metrics.exposition(grant), exposePlaneMetrics.stream ?? ""),
  );
}
