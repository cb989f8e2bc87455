import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BenchRow } from "./row.ts";

/**
 * `bun run bench [NAME…]`: every benchmark or the named ones, as a table and as dist/bench.json. Each figure stands
 * beside a baseline of the same run, because machines differ and are shared. Those that need Docker take the engine
 * from BERTH_TEST_DOCKER_HOST.
 */
const benches: Record<string, () => Promise<{ run(): Promise<BenchRow[]> }>> = {
  store: () => import("./store.ts"),
  front: () => import("./front.ts"),
  apply: () => import("./apply.ts"),
  backups: () => import("./backups.ts"),
  rollout: () => import("./rollout.ts"),
  rolling: () => import("./rolling.ts"),
  "bytecode-order": () => import("./bytecode-order.ts"),
  cron: () => import("./cron.ts"),
  exec: () => import("./exec.ts"),
  ingress: () => import("./ingress.ts"),
  scale: () => import("./scale.ts"),
  "identity-import": () => import("./identity-import.ts"),
  "identity-search": () => import("./identity-search.ts"),
  "identity-signin": () => import("./identity-signin.ts"),
  "identity-verify": () => import("./identity-verify.ts"),
  logs: () => import("./logs.ts"),
  manifests: () => import("./manifests.ts"),
  "metrics-layout": () => import("./metrics-layout.ts"),
  "metrics-week": () => import("./metrics-week.ts"),
  plugins: () => import("./plugins.ts"),
  "plane-memory": () => import("./plane-memory.ts"),
  "plane-streams": () => import("./plane-streams.ts"),
  sampling: () => import("./sampling.ts"),
  source: () => import("./source.ts"),
  start: () => import("./start.ts"),
  "telemetry-flood": () => import("./telemetry-flood.ts"),
  "traces-layout": () => import("./traces-layout.ts"),
  tunnel: () => import("./tunnel.ts"),
  ui: () => import("./ui.ts"),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => benches[name] === undefined);
if (unknown.length > 0)
  throw new Error(`no benchmark ${unknown.join(", ")}; there are ${Object.keys(benches).join(", ")}`);
const rows: BenchRow[] = [];
for (const [name, load] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const bench = await load();
  const found = await bench.run();
  if (found.length === 0) throw new Error(`${name} measured nothing`);
  rows.push(...found);
  for (const row of found) console.log(line(row));
  const empty = found.find(({ value, baseline, ratio }) => ![value, baseline, ratio].every(Number.isFinite));
  if (empty !== undefined) throw new Error(`${name} has no ratio for "${empty.name}"`);
}

const folder = join(import.meta.dir, "../../dist");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "bench.json"), `${JSON.stringify(rows, undefined, 2)}\n`);

function line({ name, value, unit, baseline, ratio, wanted: aim }: BenchRow): string {
  const figures = `${short(value)} ${unit} against ${short(baseline)}`;
  return `${name.padEnd(52)} ${figures.padEnd(44)} ratio ${ratio.toFixed(2).padStart(6)}   wanted ${aim}`;
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
