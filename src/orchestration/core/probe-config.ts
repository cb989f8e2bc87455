import { type Probe, type Probes, probeNames } from "../api/kinds/probe.ts";
import { parseDuration } from "../../base/pure/duration.ts";

export type ProbeName = (typeof probeNames)[number];

export type ProbeAction =
  | { type: "http"; path: string; port: number; scheme: "http" | "https"; headers: Record<string, string> }
  | { type: "tcp"; port: number }
  | { type: "exec"; command: string[] };

/** One probe with every default filled in. */
export interface ProbeConfig {
  action: ProbeAction;
  /** From the start of the container to the first attempt. */
  initialDelayMs: number;
  periodMs: number;
  timeoutMs: number;
  /** Outcomes in a row that change the phase. */
  failureThreshold: number;
  successThreshold: number;
}

export type ProbesConfig = Partial<Record<ProbeName, ProbeConfig>>;

/** The probes of a spec, times in milliseconds. A probe without an action, which no apply lets in, is left out. */
export function probeConfig(probes: Probes | undefined): ProbesConfig {
  const config: ProbesConfig = {};
  for (const name of probeNames) {
    const probe = probes?.[name];
    const action = probe && actionOf(probe);
    if (probe && action) config[name] = withDefaults(probe, action);
  }
  return config;
}

function withDefaults(probe: Probe, action: ProbeAction): ProbeConfig {
  return {
    action,
    initialDelayMs: durationOf(probe.initial_delay, 0),
    periodMs: durationOf(probe.period, 10_000),
    timeoutMs: durationOf(probe.timeout, 1_000),
    failureThreshold: probe.failure_threshold ?? 3,
    successThreshold: probe.success_threshold ?? 1,
  };
}

function actionOf({ http_get, tcp_socket, exec }: Probe): ProbeAction | undefined {
  if (http_get !== undefined) {
    const { path, port, scheme, http_headers: headers = {} } = http_get;
    return { type: "http", path, port, scheme: scheme === "https" ? "https" : "http", headers };
  }
  if (tcp_socket !== undefined) return { type: "tcp", port: tcp_socket.port };
  if (exec !== undefined) return { type: "exec", command: exec.command };
  return undefined;
}

/** A stored spec is read leniently: a text that is no duration counts as left out. */
function durationOf(text: string | undefined, fallback: number): number {
  return (text === undefined ? undefined : parseDuration(text)) ?? fallback;
}
