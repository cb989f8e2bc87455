import { formatPercent } from "../../base/pure/percent.ts";
import { formatDuration } from "../../base/pure/duration.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import type { Canary, Rollout } from "../../orchestration/api/rollouts.ts";
import { printable, type Style } from "../basics/style.ts";
import { listText } from "../basics/table-text.ts";
import { shortDuration, timeText } from "./time-text.ts";

/** The newest release of a resource, and its canary steps. */
export function rolloutText(data: Rollout, { style, width }: { style: Style; width: number | undefined }): string {
  const { release, status, canary, error, message } = data;
  if (release === undefined) return `${formatKey(data)} has no release yet`;
  const facts = [
    ...(error === undefined ? [] : [["reason", style.red(printable(error))]]),
    ...(canary === undefined ? [] : canaryFacts(canary)),
    ...(canary !== undefined || message === undefined ? [] : [["now", printable(message)]]),
  ];
  const head = `${style.bold(formatKey(data))}  release ${printable(release)} ${printable(status ?? "")}`.trimEnd();
  return facts.length === 0 ? head : `${head}\n${listText(facts, { indent: "  ", width })}`;
}

/** Rows of a list: what the canary does now, what comes next, and what visitors see. */
export function canaryFacts(canary: Canary): string[][] {
  const { steps, step, replicas, traffic, kept_until: until } = canary;
  const next = canary.promoted ? [] : steps.slice(step);
  return [
    ["canary", canaryNow(canary)],
    ...(next.length === 0 ? [] : [["then", next.map(stepText).join(", ")]]),
    ...(until === undefined ? [] : [["kept until", timeText(until)]]),
    ["running", `${replicas.new} new, ${replicas.old} old`],
    ...(traffic === undefined ? [] : [[`last ${traffic.seconds}s`, trafficText(traffic)]]),
  ];
}

/** `canary step 1 of 3, 5 % of the requests for 2m, 80s left` */
function canaryNow({ text, left_seconds: left }: Canary): string {
  return left === undefined || left === 0 ? printable(text) : `${printable(text)}, ${shortDuration(left * 1_000)} left`;
}

/** One line for a user who waits: the step, the time that is left, and what visitors of the new replicas got. */
export function canaryLine(canary: Canary): string {
  const { traffic } = canary;
  return traffic === undefined ? canaryNow(canary) : `${canaryNow(canary)}; ${newReplicasText(traffic)}`;
}

/** `new replicas in the last 30s: 120 requests, 0 failed, p99 41 ms` */
export function newReplicasText({ seconds, new: fresh }: NonNullable<Canary["traffic"]>): string {
  return `new replicas in the last ${seconds}s: ${figuresText(fresh)}`;
}

function stepText({ share, pause_seconds: pause }: Canary["steps"][number]): string {
  if (pause === undefined) return `${formatPercent(share)} until resumed`;
  return pause === 0 ? formatPercent(share) : `${formatPercent(share)} for ${formatDuration(pause * 1_000)}`;
}

function trafficText({ new: fresh, old }: NonNullable<Canary["traffic"]>): string {
  return `new ${figuresText(fresh)}; old ${figuresText(old)}`;
}

function figuresText({ requests, failed, p99_ms: p99 }: NonNullable<Canary["traffic"]>["new"]): string {
  const count = requests === 1 ? "1 request" : `${requests} requests`;
  return [count, `${failed} failed`, ...(p99 === undefined ? [] : [`p99 ${p99} ms`])].join(", ");
}
