import type { PodMeasure, PodMeasures } from "../../../orchestration/api/pod-measure.ts";
import type { Sample, Series } from "../../core/metrics/series.ts";
import type { Collector } from "./collector.ts";
import { createDeltas, type Deltas } from "./deltas.ts";
import { shareOfTime } from "./host.ts";
import type { Places } from "./places.ts";

/** Which container a replica's place had at an instant. */
export interface ReplicaSeen {
  container: string;
  kind: string;
  scope: string;
  name: string;
  replica: string;
  replicaId: string;
  at: number;
}

/** A container as the round before read it. */
interface KnownPod {
  replica: string;
  at: number;
  seriesOf: (metric: string) => Series;
}

/** The pods and the replica counts, as the platform last read them. `onSeen` receives each replica that was sampled. */
export function createPodCollector(
  measures: PodMeasures,
  places: Places,
  onSeen: (seen: ReplicaSeen) => void,
): Collector {
  const deltas = createDeltas();
  const known = new Map<string, KnownPod>();
  let lastAt = 0;

  function podSamples(pod: PodMeasure, at: number): Sample[] {
    const { key, id, ordinal, container, replicaId } = pod;
    const replica = places.of(key, { id, ordinal });
    onSeen({ container, ...key, replica, replicaId, at });
    const before = knownPod(known, pod, replica);
    const elapsedMs = pod.at - before.at;
    before.at = pod.at;
    const samples: Sample[] = [];
    for (const [metric, value] of Object.entries(figuresOf(pod, deltas, elapsedMs)))
      if (value !== undefined) samples.push({ series: before.seriesOf(metric), value });
    return samples;
  }

  return {
    name: "pods",
    collect(at) {
      const counts = measures.replicas().flatMap(({ key, ready, wanted }): Sample[] => {
        const series = (metric: string): Series => ({ source: "app", ...key, replica: "", metric, labels: {} });
        return [
          { series: series("replicas_ready"), value: ready },
          { series: series("replicas_total"), value: wanted },
        ];
      });
      const latest = measures.latest();
      // A reading counts once: an engine that is away must not look like a flat line.
      if (latest === undefined || latest.at === lastAt) return counts;
      lastAt = latest.at;
      const ids = new Set(latest.pods.map(({ id }) => id));
      places.keep(ids);
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
      const samples = latest.pods.flatMap((pod) => podSamples(pod, at));
      deltas.endRound();
      return [...counts, ...samples];
    },
  };
}

/** The same pod has the same series each time: what stores them knows them again by that. */
function knownPod(known: Map<string, KnownPod>, { key, id, at }: PodMeasure, replica: string): KnownPod {
  const before = known.get(id);
  if (before?.replica === replica) return before;
  const made = new Map<string, Series>();
  const seriesOf = (metric: string) => {
    const series = made.get(metric) ?? { source: "pod", ...key, replica, metric, labels: {} };
    made.set(metric, series);
    return series;
  };
  const pod = { replica, at: before?.at ?? at, seriesOf };
  known.set(id, pod);
  return pod;
}

function figuresOf(
  { id, detail, ...pod }: PodMeasure,
  deltas: Deltas,
  elapsedMs: number,
): Record<string, number | undefined> {
  const gained = (name: string, value: number | undefined) => deltas.of(name, value, id);
  const share = (name: string, value: number | undefined) => shareOfTime(gained(name, value), elapsedMs);
  return {
    cpu_percent: pod.cpuPercent,
    mem_usage_bytes: pod.memoryBytes,
    mem_limit_bytes: Number.isFinite(pod.memoryLimitBytes) ? pod.memoryLimitBytes : undefined,
    pids: pod.pids === 0 ? undefined : pod.pids,
    mem_rss_bytes: detail.rssBytes,
    mem_cache_bytes: detail.cacheBytes,
    cpu_throttled_percent: share("throttled", detail.throttledMicros),
    pressure_cpu_percent: share("cpu", detail.cpuPressureMicros),
    pressure_memory_percent: share("memory", detail.memoryPressureMicros),
    pressure_io_percent: share("io", detail.ioPressureMicros),
    net_rx_bytes: detail.netRxBytes,
    net_tx_bytes: detail.netTxBytes,
    block_read_bytes: detail.blockReadBytes,
    block_write_bytes: detail.blockWriteBytes,
    net_rx_delta_bytes: gained("rx", detail.netRxBytes),
    net_tx_delta_bytes: gained("tx", detail.netTxBytes),
    block_read_delta_bytes: gained("read", detail.blockReadBytes),
    block_write_delta_bytes: gained("write", detail.blockWriteBytes),
    oom_kills: gained("oom", detail.oomKills),
    restarts: gained("restarts", pod.restarts),
    probe_attempts: gained("probes", pod.probes?.attempts),
    probe_failures: gained("failures", pod.probes?.failures),
    probe_ms: pod.probes !== undefined && pod.probes.attempts > 0 ? pod.probes.tookMs : undefined,
  };
}
