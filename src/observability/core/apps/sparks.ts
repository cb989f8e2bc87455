import type { AppTraffic, AppUsage, Sparks } from "../../api/app-model.ts";

/** One point of each line of an app; what was not measured is null. */
interface Point {
  cpu: number | null;
  memory: number | null;
  rate: number | null;
  failed: number | null;
}

/** The last points of one app, oldest first. */
export interface SparkLine {
  points: readonly Point[];
}

/** The line with one point more, and without those beyond `kept`. */
export function withPoint(
  line: SparkLine | undefined,
  figures: { usage: AppUsage | undefined; traffic: AppTraffic | undefined },
  kept: number,
): SparkLine {
  const { usage, traffic } = figures;
  const point: Point = {
    cpu: usage === undefined ? null : round(usage.cpu_percent),
    memory: usage?.memory_bytes ?? null,
    rate: traffic === undefined ? null : round(traffic.rate),
    failed: traffic === undefined ? null : round(traffic.failed / Math.max(traffic.seconds, 1)),
  };
  return { points: [...(line?.points ?? []), point].slice(-kept) };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export function sparksOf({ points }: SparkLine, { stepMs, until }: { stepMs: number; until: number }): Sparks {
  return {
    step_seconds: stepMs / 1_000,
    until: new Date(until).toISOString(),
    cpu_percent: points.map(({ cpu }) => cpu),
    memory_bytes: points.map(({ memory }) => memory),
    rate: points.map(({ rate }) => rate),
    failed_rate: points.map(({ failed }) => failed),
  };
}
