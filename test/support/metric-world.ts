/** Figures that look like those of a server: what the benchmarks and the simulated week of the metrics store run on. */
export interface MetricWorld {
  names: readonly string[];
  /** One sample of every series, in the order of `names`. */
  next(): Float64Array;
}

/** A generator of numbers between 0 and 1 that gives the same ones for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

type Random = () => number;

/** What one pod is sampled for. Every second pod is busy, the others idle, as on most servers. */
const podSeries: Record<string, (random: Random, isBusy: boolean) => () => number> = {
  cpu_percent: (random, isBusy) => () =>
    round2(isBusy ? 20 + 30 * random() ** 3 : random() < 0.8 ? 0.01 + random() * 0.1 : 1),
  cpu_throttled_percent: (random, isBusy) => () => (isBusy && random() < 0.05 ? round2(random() * 10) : 0),
  mem_usage_bytes: (random, isBusy) => walk(random, 120e6, isBusy ? 400_000 : 8_192),
  mem_rss_bytes: (random, isBusy) => walk(random, 100e6, isBusy ? 400_000 : 4_096),
  mem_cache_bytes: (random, isBusy) => walk(random, 20e6, isBusy ? 100_000 : 0),
  mem_limit_bytes: () => () => 536_870_912,
  pids: (random, isBusy) => () => (isBusy && random() < 0.1 ? 13 : 12),
  net_rx_delta_bytes: (random, isBusy) => () => Math.floor(random() * (isBusy ? 2e6 : 600)),
  net_tx_delta_bytes: (random, isBusy) => () => Math.floor(random() * (isBusy ? 9e6 : 600)),
  block_read_delta_bytes: (random, isBusy) => () => (isBusy && random() < 0.2 ? 4_096 * Math.floor(random() * 100) : 0),
  block_write_delta_bytes: (random, isBusy) => () => (isBusy && random() < 0.6 ? 4_096 * Math.floor(random() * 40) : 0),
  oom_kills: () => () => 0,
  restarts: () => () => 0,
  pressure_cpu_percent: (random, isBusy) => () => (isBusy ? round2(random() * 3) : 0),
  pressure_memory_percent: () => () => 0,
  pressure_io_percent: (random, isBusy) => () => (isBusy && random() < 0.1 ? round2(random()) : 0),
};

export function createMetricWorld(pods: number, seed = 1): MetricWorld {
  const random = seeded(seed);
  const series = Array.from({ length: pods }, (_, pod) =>
    Object.entries(podSeries).map(([metric, make]) => ({
      name: `pod-${pod} ${metric}`,
      next: make(random, pod % 2 === 0),
    })),
  ).flat();
  return {
    names: series.map(({ name }) => name),
    next: () => Float64Array.from(series, ({ next }) => next()),
  };
}

function walk(random: Random, start: number, step: number): () => number {
  let pages = Math.floor(start / 4_096);
  return () => {
    if (step > 0 && random() < 0.5) pages += Math.floor(((random() - 0.5) * 2 * step) / 4_096);
    return Math.max(1, pages) * 4_096;
  };
}

const round2 = (value: number) => Math.round(value * 100) / 100;
