import type { AppDrill } from "../../backups/api/drills.ts";
import { formatDuration } from "../../base/pure/duration.ts";
import { printable, type Style } from "../basics/style.ts";
import type { DrillSummary } from "../facts/protection.ts";
import { timeText } from "./time-text.ts";

/** `4.2 s`, `3m20s`; nothing where it was not measured. */
export function spanText(seconds: number | undefined): string {
  if (seconds === undefined) return "";
  return seconds < 60 ? `${seconds} s` : formatDuration(Math.round(seconds) * 1000);
}

/** The last drill of an app in one line. */
export function drillText(drill: AppDrill, style: Pick<Style, "red" | "yellow">): string {
  const { result, why = "", ended_at: at, copy_at: copy, recovery_seconds: took, running_since: since } = drill;
  if (result === undefined || at === undefined) return since === undefined ? "not yet" : "under way";
  if (result === "failed") return style.red(`failed at ${timeText(at)}: ${printable(why)}`);
  if (result === "not_drilled") return style.yellow(`not drilled: ${printable(why)}`);
  const how = result === "proved" ? "proved by its own check" : "started; it has no check that could prove it";
  const age = copy === undefined ? "" : `, from a copy that was ${spanText(drill.recovery_point_seconds)} old`;
  return `${how}: ready in ${spanText(took)}${age}`;
}

/** One line; none before the first drill. */
export function drillRows(drills: DrillSummary | undefined, style: Pick<Style, "red" | "yellow">): string[][] {
  if (drills === undefined) return [];
  const { good, failed, not_drilled: not, waiting } = drills;
  const ended = good + failed.length + not.length;
  if (ended === 0) return [];
  const figures = `the slowest in ${spanText(drills.recovery_seconds)}, from copies up to ${spanText(drills.recovery_point_seconds)} old`;
  const failures = failed.map(({ app, why }) => printable(`${app} (${why})`)).join(", ");
  const others = not.map(({ app }) => printable(app)).join(", ");
  const parts = [
    `${good} of ${ended + waiting} protected apps stood again from their copies${good === 0 ? "" : `, ${figures}`}`,
    ...(failed.length === 0 ? [] : [style.red(`failed: ${failures}`)]),
    ...(not.length === 0 ? [] : [style.yellow(`not drilled: ${others}; see: berth backup drills`)]),
  ];
  return [["drills", parts.join("; ")]];
}
