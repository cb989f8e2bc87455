import { formatPercent } from "../../base/pure/percent.ts";
import type { Canary } from "../../orchestration/api/rollouts.ts";
import type { PublishedPort } from "../../orchestration/api/pods.ts";
import type { ListedManifest } from "../../orchestration/api/apply.ts";
import { frozenText, isEngineAway, reasonOf } from "../facts/look.ts";
import { printable, type Style } from "../basics/style.ts";
import { ageOf, shortDuration } from "./time-text.ts";

type Status = Record<string, unknown>;

interface Child {
  ref: string;
  phase: string;
}

/** What a plugin's block became. */
export function childrenOf(status: Status | null | undefined): Child[] {
  return listOf(status?.children).map((child) => {
    const { ref, phase } = asObject(child);
    return { ref: String(ref ?? ""), phase: String(phase ?? "") };
  });
}

/** One word for how a resource is; empty where nothing is known. Of a block it is the worst of what it became. */
export function phaseOf(status: Status | null | undefined): string {
  if (status === null || status === undefined) return "";
  if (isEngineAway(status)) return "unknown";
  if (status.deleting === true) return "deleting";
  if (Array.isArray(status.children)) return worstOf(childrenOf(status));
  return typeof status.phase === "string" ? printable(status.phase) : "";
}

const worstFirst = ["failed", "failing", "progressing", "ready", "asleep"];

function worstOf(children: readonly Child[]): string {
  return worstFirst.find((phase) => children.some((child) => child.phase === phase)) ?? "";
}

/** `ready`, and of jobs how their last run went. */
export function statusCell({ kind, status }: ListedManifest, { style, now }: { style: Style; now: number }): string {
  const phase = phaseOf(status);
  if ((kind === "job" || kind === "cronjob") && phase !== "failing") return lastRunCell(status, { style, now });
  return phaseText(status, style) || "-";
}

/** The state of an app that has no replicas because none are wanted. */
export const scaledToZero = "scaled to 0";

/** The phase for people, in its colour; empty where nothing is known. */
export function phaseText(status: Status | null | undefined, style: Style): string {
  const phase = phaseOf(status);
  return isScaledToZero(status) ? style.dim(scaledToZero) : coloured(phase, style);
}

/** Nothing of it runs, because nothing is to run. */
export function isScaledToZero(status: Status | null | undefined): boolean {
  return status?.replicas === 0 && status.ready_replicas === 0 && phaseOf(status) === "ready";
}

function lastRunCell(status: Status | undefined, { style, now }: { style: Style; now: number }): string {
  const [last] = listOf(status?.history).map(asObject);
  if (last === undefined) return "never ran";
  const text = printable(String(last.status));
  const at = last.ended_at ?? last.started_at ?? last.instant;
  const ago = typeof at === "string" ? ` ${ageOf(at, now)} ago` : "";
  const bad = text === "failed" || text === "timed_out" || text === "missed";
  return `${bad ? style.red(text) : text}${ago}`;
}

export function coloured(phase: string, style: Style): string {
  if (phase === "ready") return style.green(phase);
  if (phase === "failing" || phase === "failed" || phase === "unknown") return style.red(phase);
  if (phase === "asleep") return style.dim(phase);
  return phase === "progressing" || phase === "deleting" ? style.yellow(phase) : phase;
}

/**
 * `canary 25 %, waits for: berth rollout resume shop/web`: what a canary does that goes as was asked; empty for others,
 * also while replicas of a step come up.
 */
export function canaryCell({ scope, name, status }: ListedManifest): string {
  const canary = status?.canary as Canary | undefined;
  if (canary === undefined || phaseOf(status) !== "progressing") return "";
  const head = `canary ${formatPercent(canary.share)}`;
  const reference = [scope, name].filter(Boolean).join("/");
  if (canary.state === "paused") return printable(`${head}, waits for: berth rollout resume ${reference}`);
  if (canary.state !== "waiting") return "";
  const { left_seconds: left } = canary;
  return left === undefined ? head : `${head}, ${shortDuration(left * 1_000)} left of step ${canary.step}`;
}

/** Why it is not as it should be; empty where all is well. */
export function reasonCell(manifest: ListedManifest): string {
  const { kind, scope, name, status } = manifest;
  if (status === undefined) return "";
  if (Array.isArray(status.children)) {
    const bad = childrenOf(status).filter(({ phase }) => ["failed", "failing", "progressing"].includes(phase));
    return bad.map(({ ref, phase }) => `${ref} is ${phase}`).join(", ");
  }
  const canary = canaryCell(manifest);
  if (canary !== "") return canary;
  // Why the engine is away is said once above the list, not in each row of it.
  const last = status.last_reconcile_error;
  if (isEngineAway(status))
    return typeof last === "string" ? `EngineUnavailable; before that: ${printable(last)}` : "EngineUnavailable";
  // That its last replicas still go is as it should be.
  const reason = phaseOf(status) === "asleep" ? "" : reasonOf(status);
  if (reason !== "") return printable(reason);
  const frozen = frozenText({ scope, name }, status.frozen_ids);
  if (frozen !== "") return frozen;
  const [run] = kind === "job" || kind === "cronjob" ? listOf(status.history).map(asObject) : [];
  if (typeof run?.error === "string") return printable(run.error);
  const [warning] = listOf(status.warnings);
  return typeof warning === "string" ? printable(warning) : "";
}

/** `127.0.0.1:8080→80`: where the ports of pods are on the server. */
export function portsText(ports: readonly PublishedPort[]): string {
  const texts = ports.map(({ container, host_ip: ip, host_port: port }) => {
    const host = ip.includes(":") ? `[${ip}]` : ip;
    return `${host}:${port}→${container.replace(/\/tcp$/, "")}`;
  });
  return [...new Set(texts)].sort().join(", ");
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
