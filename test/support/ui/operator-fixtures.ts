const points = 120;
const stepSeconds = 30;

const wave = (seed: number, size: number) =>
  Array.from({ length: points }, (_, index) => (index < 6 ? null : size * (1 + Math.sin(index / 9 + seed))));

/** An answer of GET /query with two apps. */
export function figuresFixture() {
  const until = Date.now();
  return {
    from: new Date(until - points * stepSeconds * 1_000).toISOString(),
    until: new Date(until).toISOString(),
    step_seconds: stepSeconds,
    results: [
      {
        ...{ metric: "pod.cpu_percent", agg: "avg", type: "gauge", truncated: false, more: 0 },
        series: [
          { group: { app: "shop/web" }, values: wave(1, 20) },
          { group: { app: "shop/api" }, values: wave(3, 12) },
        ],
      },
    ],
  };
}
