import { probeDefaults, probeNames } from "../../api/kinds/defaults.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { type Fields, fieldsOf, integerOf, msOf, textMapOf, textOf, wordsOf } from "./lenient.ts";

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

export const probeMs = {
  initialDelay: parseDuration(probeDefaults.initialDelay) ?? 0,
  period: parseDuration(probeDefaults.period) ?? 0,
  timeout: parseDuration(probeDefaults.timeout) ?? 0,
};

/** The probes of a spec, times in milliseconds. A probe without an action, which no apply lets in, is left out. */
export function decodeProbes(written: unknown): ProbesConfig {
  const config: ProbesConfig = {};
  if (!isFields(written)) return config;
  for (const name of probeNames) {
    const probe = fieldsOf(written[name]);
    const action = actionOf(probe);
    if (action !== undefined) config[name] = { action, ...timingOf(probe) };
  }
  return config;
}

/** Each command of a probe may leave processes behind, which are not collected where process 1 is an ordinary program. */
export function hasExecProbe(probes: ProbesConfig): boolean {
  return Object.values(probes).some((probe) => probe?.action.type === "exec");
}

/** Everything of a probe but what it does. */
export function timingOf(probe: Fields): Omit<ProbeConfig, "action"> {
  return {
    initialDelayMs: msOf(probe.initial_delay) ?? probeMs.initialDelay,
    periodMs: msOf(probe.period) ?? probeMs.period,
    timeoutMs: msOf(probe.timeout) ?? probeMs.timeout,
    failureThreshold: integerOf(probe.failure_threshold) ?? probeDefaults.failureThreshold,
    successThreshold: integerOf(probe.success_threshold) ?? probeDefaults.successThreshold,
  };
}

function actionOf({ http_get, tcp_socket, exec }: Fields): ProbeAction | undefined {
  return httpAction(http_get) ?? tcpAction(tcp_socket) ?? execAction(exec);
}

function httpAction(written: unknown): ProbeAction | undefined {
  const { path: pathText, port: number, scheme, http_headers } = fieldsOf(written);
  const [path, port] = [textOf(pathText), integerOf(number)];
  if (path === undefined || port === undefined) return undefined;
  const headers = { ...textMapOf(http_headers) };
  return { type: "http", path, port, scheme: scheme === "https" ? "https" : probeDefaults.scheme, headers };
}

function tcpAction(written: unknown): ProbeAction | undefined {
  const port = integerOf(fieldsOf(written).port);
  return port === undefined ? undefined : { type: "tcp", port };
}

function execAction(written: unknown): ProbeAction | undefined {
  const { command } = fieldsOf(written);
  return Array.isArray(command) ? { type: "exec", command: [...wordsOf(command)] } : undefined;
}
