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

const mib = 1024 * 1024;
const gib = 1024 * mib;

/** An answer of GET /disk of a machine that runs for a while. */
export function diskFixture() {
  return {
    measured_at: new Date(Date.now() - 20_000).toISOString(),
    measuring: false,
    engine: {
      images: {
        ...{ count: 14, bytes: 9.2 * gib, used_bytes: 5.1 * gib, rollback_bytes: 2.2 * gib },
        ...{ removable_bytes: 1.4 * gib, foreign_bytes: 0.5 * gib },
      },
      build_cache: { bytes: 3.1 * gib, unused_bytes: 2.9 * gib },
      volumes: { count: 3, bytes: 12.4 * gib },
      containers: { count: 9, writable_bytes: 210 * mib, log_bytes: 180 * mib },
    },
    stores: [
      {
        ...{ name: "metrics", path: "/opt/berth/metrics.db", bytes: 312 * mib },
        ...{ cap: "age and bytes", cap_bytes: 1024 * mib },
      },
      {
        ...{ name: "stored logs", path: "/opt/berth/logs/pods", bytes: 1.9 * gib },
        ...{ cap: "7 days and bytes", cap_bytes: 2 * gib },
      },
      { name: "platform database", path: "/opt/berth/state.db", bytes: 18 * mib, cap: "rows of each table" },
    ],
    volumes: [
      { volume: "berth-shop-db-data-0", scope: "shop", name: "db", state: "used", bytes: 11 * gib },
      { volume: "berth_shop_files", scope: "shop", name: "web", state: "idle", bytes: 1.2 * gib },
      {
        ...{ volume: "berth-old-db-data-0", scope: "old", name: "db", state: "leftover", bytes: 200 * mib },
        remove: "berth delete old/db --prune",
      },
    ],
    mounts: [
      { mount: "/", used_bytes: 61 * gib, total_bytes: 80 * gib, forecast: "filling", full_at: soon(12) },
      { mount: "/var/lib/data", used_bytes: 20 * gib, total_bytes: 200 * gib, forecast: "steady" },
      { mount: "/mnt/new", used_bytes: gib, total_bytes: 100 * gib, forecast: "history" },
    ],
  };
}

const soon = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/** An answer of GET /server. */
export function serverFixture() {
  const at = new Date(Date.now() - 300_000_000).toISOString();
  return {
    ...{ version: "0.1.0 (commit: abc)", installation: "i", prefix: "berth", root: "/opt/berth", started_at: at },
    engine: { up: true, since: at, host: "unix:///var/run/docker.sock", version: "27.3.1", api_version: "1.47" },
    listeners: [{ name: "observability", address: "0.0.0.0:8687" }],
    store: { manifests: 9, collection_held: false },
    reconciler: { queued: 0, failing: 1 },
    ...{ uptime_seconds: 300_000, streams: 3 },
    settings: [
      { flag: "--observability-addr", variable: "BERTH_OBSERVABILITY_ADDR", value: "0.0.0.0:8687" },
      { flag: "--observability-tls", variable: "BERTH_OBSERVABILITY_TLS", value: "off" },
      { flag: "--smtp-url", variable: "BERTH_SMTP_URL", value: "none: mails are kept" },
    ],
    proxy: { state: "running", version: "2.6.12", listen: [":80", ":443"] },
  };
}

/** An answer of GET /jobs: a week of a nightly job, and one that runs every few minutes. */
export function jobsFixture() {
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const dayMs = 86_400_000;
  const at = (days: number, minutes: number) => new Date(midnight.getTime() + days * dayMs + minutes * 60_000);
  const run = (id: string, start: Date, status: string, seconds: number) => ({
    ...{ run_id: id, kind: "cronjob", scope: "shop", name: "nightly", container: id, status, trigger: "schedule" },
    ...{
      attempt: 1,
      started_at: start.toISOString(),
      ended_at: new Date(start.getTime() + seconds * 1_000).toISOString(),
    },
  });
  const nightly = [
    run("n1", at(-1, 180), "succeeded", 900),
    run("n2", at(-2, 180), "failed", 70),
    run("n3", at(-3, 180), "succeeded", 80),
    { ...run("n4", at(-4, 180), "missed", 0), error: "the server was away" },
    run("n5", at(-5, 180), "succeeded", 75),
  ];
  const often = Array.from({ length: 40 }, (_, index) => run(`o${index}`, at(-1, index * 5), "succeeded", 2));
  const job = { kind: "cronjob", scope: "shop", image: "web:1", timezone: "UTC", suspended: false, running: 0 };
  return {
    jobs: [
      {
        ...{ ...job, name: "nightly", schedule: "0 3 * * *", runs: nightly, last_run: { ...nightly[0], tail: [] } },
        next_runs: [1, 2, 3, 4].map((day) => at(day, 180).toISOString()),
      },
      { ...job, name: "poll", schedule: "*/5 * * * *", runs: often, next_runs: [at(1, 5).toISOString()] },
    ],
  };
}

/** What the janitor says of itself in GET /metrics/catalogue. */
export function catalogueFixture() {
  return {
    ...{ metrics: [], tiers: [] },
    store: {
      ...{ bytes: 312 * mib, bytes_max: gib, series: 420, series_max: 20_000, refused: 0, expired: 1_204, shed: 0 },
      ...{ disk: "ok", clock_trusted: true, tended_at: new Date(Date.now() - 240_000).toISOString() },
    },
  };
}
