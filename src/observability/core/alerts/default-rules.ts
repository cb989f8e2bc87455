import type { RuleBody } from "../../api/alert-rules.ts";

const platform = (condition: Extract<RuleBody["watch"], { type: "platform" }>["condition"], limit?: number) => ({
  type: "platform" as const,
  condition,
  ...(limit === undefined ? {} : { limit }),
});

/** On from the first start. An operator changes one by putting a rule of the same name. */
export const defaultRules: Readonly<Record<string, RuleBody>> = {
  down: { watch: platform("down"), severity: "critical", for: "1m", keep: "1m" },
  "not-ready": { watch: platform("not_ready"), severity: "warning", for: "5m" },
  "crash-loop": { watch: platform("crash_loop"), severity: "critical", for: "0s", keep: "2m" },
  "out-of-memory": { watch: platform("out_of_memory"), severity: "warning", for: "0s", keep: "10m" },
  "deploy-failed": { watch: platform("deploy_failed"), severity: "warning", for: "0s", keep: "0s" },
  "run-failed": { watch: platform("run_failed"), severity: "warning", for: "0s", keep: "0s" },
  "run-missed": { watch: platform("run_missed"), severity: "warning", for: "0s", keep: "0s" },
  "error-rate": { watch: { type: "requests", failed_percent: 5 }, severity: "critical", for: "1m", keep: "5m" },
  "slow-requests": { watch: { type: "requests", p99_ms: 5_000 }, severity: "warning", for: "5m" },
  certificate: { watch: platform("certificate", 14), severity: "warning", for: "10m" },
  disk: { watch: platform("disk_full", 90), severity: "critical", for: "1m" },
  "memory-pressure": {
    watch: { type: "metric", metric: "system.pressure_memory_percent", agg: "avg", over: "5m", above: 20 },
    severity: "warning",
    for: "5m",
    title: "memory is short on the server: {value} % of the time something waits for it",
  },
  backup: { watch: platform("backup", 8), severity: "warning", for: "1h" },
  "log-drain": { watch: platform("drain", 10), severity: "warning", for: "1m" },
  engine: { watch: platform("engine"), severity: "critical", for: "1m" },
  ingress: { watch: platform("ingress"), severity: "critical", for: "1m" },
};
