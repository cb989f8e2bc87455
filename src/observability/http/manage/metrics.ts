import { mount, mountStream, type Plane } from "../../../base/http/mount.ts";
import type { Log } from "../../../base/words/log.ts";
import { dumpMetrics, exposeMetrics, getMetrics, listMetrics, queryMetrics } from "../../api/metrics.ts";
import { everything, type MetricsAnswers } from "../../service/metrics/answers.ts";
import { linesResponse, textResponse } from "../metric-streams.ts";

/** The same questions as on the observability plane, for the operator. */
export function mountOperatorMetrics(plane: Plane, metrics: MetricsAnswers, log: Log): void {
  mount(plane, getMetrics, ({ query }) => metrics.chart(query, everything));
  mount(plane, queryMetrics, ({ query }) => metrics.query(query, everything));
  mount(plane, listMetrics, ({ query }) => metrics.catalogue(query, everything));
  mountStream(plane, dumpMetrics, async ({ query }) =>
    linesResponse(metrics.dump(query, everything), { contentType: dumpMetrics.stream ?? "", log }),
  );
  mountStream(plane, exposeMetrics, async () =>
    textResponse(metrics.exposition(everything), exposeMetrics.stream ?? ""),
  );
}
