import type { TakenFigures } from "../../../ingress/api/taken-figures.ts";
import type { Sample, Series } from "../../core/metrics/series.ts";
import type { Collector } from "./collector.ts";

/**
 * What visitors got, by app and host. An ingress that had requests goes on with zeros for a while, so that a chart shows
 * the end of the traffic and not a gap.
 */
export function createVisitCollector(taken: () => TakenFigures[]): Collector {
  const quiet = new Map<string, { row: TakenFigures; rounds: number }>();

  function withQuiet(rows: readonly TakenFigures[]): TakenFigures[] {
    const keyOf = ({ scope, ingress, host }: TakenFigures) => `${scope}/${ingress} ${host}`;
    const seen = new Set(rows.map(keyOf));
    const silent = [...quiet].filter(([key]) => !seen.has(key));
    for (const [key, { rounds }] of silent) if (rounds >= quietRounds) quiet.delete(key);
    for (const row of rows)
      if (quiet.size < quietMax || quiet.has(keyOf(row))) quiet.set(keyOf(row), { row, rounds: 0 });
    return [
      ...rows,
      ...silent.map(([, entry]) => {
        entry.rounds += 1;
        return { ...entry.row, ...nothing };
      }),
    ];
  }

  return { name: "visits", collect: () => withQuiet(taken()).flatMap(samplesOf) };
}

/** An hour of rounds, and as many ingresses and hosts. */
const quietRounds = 240;
const quietMax = 2_000;

const nothing = { requests: 0, failed: 0, held: 0, bytesIn: 0, bytesOut: 0, byClass: [0, 0, 0, 0, 0, 0] };

function samplesOf(row: TakenFigures): Sample[] {
  const { ingress, scope, host, app, byClass } = row;
  const [, , success = 0, redirection = 0, clientError = 0, serverError = 0] = byClass;
  const key = app ?? { kind: "ingress", scope, name: ingress };
  const series = (metric: string): Series => ({
    ...{ source: "ingress", kind: key.kind, scope: key.scope, name: key.name, replica: "", metric },
    labels: { ingress, host },
  });
  const counts: Record<string, number> = {
    req_count: row.requests,
    req_2xx: success,
    req_3xx: redirection,
    req_4xx: clientError,
    req_5xx: serverError,
    req_failed: row.failed,
    req_held: row.held,
    bytes_in: row.bytesIn,
    bytes_out: row.bytesOut,
  };
  const samples = Object.entries(counts).map(([metric, value]): Sample => ({ series: series(metric), value }));
  return row.requests === 0 ? samples : [...samples, { series: series("latency_ms"), value: row.latency }];
}
