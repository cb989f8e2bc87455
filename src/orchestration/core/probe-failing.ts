import type { PodProbes } from "./probe.ts";
import type { ProbeAction, ProbeName, ProbesConfig } from "./spec/probes.ts";

/** The probe that keeps a container from being trusted, and what it fails with. */
export interface FailingProbe {
  probe: ProbeName;
  /** What it asks: `GET :8080/ready`. */
  check: string;
  /** Epoch ms of the first failure of those in a row. */
  since: number;
  /** What the last attempt got. */
  text: string;
}

/**
 * Undefined as long as nothing failed, and for a container that is well. Liveness comes last: it counts when it never
 * passed in this run of the container, or failed as often as its threshold says. A restart is then what comes next.
 */
export function failingProbe({ states }: PodProbes, config: ProbesConfig): FailingProbe | undefined {
  const { startup } = states;
  const hasStarted = startup === undefined || startup.phase === "healthy";
  const asked = hasStarted ? (["readiness", "liveness"] as const) : (["startup"] as const);
  for (const probe of asked) {
    const own = states[probe];
    const action = config[probe]?.action;
    if (own?.failingSince === undefined || own.phase === "healthy" || action === undefined) continue;
    return { probe, check: checkText(action), since: own.failingSince, text: own.text ?? "" };
  }
  return undefined;
}

const commandCharsMax = 80;

/** What a probe asks, in few words. */
export function checkText(action: ProbeAction): string {
  switch (action.type) {
    case "http":
      return `GET ${action.scheme === "https" ? "https " : ""}:${action.port}${action.path}`;
    case "tcp":
      return `connect to :${action.port}`;
    case "exec": {
      const command = action.command.join(" ").replaceAll(/\s+/g, " ");
      return `run ${command.length > commandCharsMax ? `${command.slice(0, commandCharsMax)}…` : command}`;
    }
  }
}

/** `readiness probe (GET :8080/ready) fails since 2026-01-02T03:04:05Z: 503 Service Unavailable`. */
export function failingText({ probe, check, since, text }: FailingProbe): string {
  const at = new Date(since).toISOString().replace(/\.\d+Z$/, "Z");
  return `${probe} probe (${check}) fails since ${at}: ${text}`;
}
