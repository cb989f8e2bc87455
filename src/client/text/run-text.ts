import type { JobRun } from "../../orchestration/api/jobs.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import { ageOf, shortDuration, timeText } from "./time-text.ts";
import type { TableSetup } from "./resource-table.ts";
import { printable, type Style } from "../basics/style.ts";
import { listText, tableText } from "../basics/table-text.ts";

/** Runs as a table, as they come. */
export function runTable(runs: readonly JobRun[], { style, width, now }: TableSetup): string {
  const rows = runs.map((run) => {
    const began = timeText(run.started_at ?? run.instant ?? run.ended_at ?? "-");
    const cells = [run.run_id, statusText(run, style), run.trigger, began, tookText(run, now), exitText(run)];
    return [...cells, printable(run.error ?? "")];
  });
  const head = ["RUN", "STATUS", "TRIGGER", "TIME", "TOOK", "EXIT", "WHY"];
  return tableText([head, ...rows], { width, head: style.dim });
}

/** One run with the last lines of its output. */
export function runText(run: JobRun, { style, width, now }: TableSetup): string {
  const facts = [
    ["status", statusText(run, style)],
    ["of", formatKey(run)],
    ["trigger", run.instant === undefined ? run.trigger : `${run.trigger}, for ${timeText(run.instant)}`],
    ...(run.started_at === undefined ? [] : [["started", timeText(run.started_at)]]),
    ["took", tookText(run, now)],
    ["exit code", exitText(run)],
    ...(run.attempt > 1 ? [["try", String(run.attempt)]] : []),
    ...(run.error === undefined ? [] : [["why", printable(run.error)]]),
  ];
  const tail =
    run.tail.length === 0 ? [] : ["", style.bold("last lines"), ...run.tail.map((line) => `  ${printable(line)}`)];
  return [style.bold(`run ${run.run_id}`), listText(facts, { indent: "  ", width }), ...tail].join("\n");
}

export function hasEnded({ status }: JobRun): boolean {
  return status !== "scheduled" && status !== "running";
}

/** `succeeded`, or `failed (try 3)`, coloured. */
export function statusText({ status, attempt }: Pick<JobRun, "status" | "attempt">, style: Style): string {
  const text = attempt > 1 ? `${status} (try ${attempt})` : status;
  if (status === "succeeded") return style.green(text);
  return status === "scheduled" || status === "running" || status === "skipped" ? style.yellow(text) : style.red(text);
}

export function tookText({ started_at: started, ended_at: ended }: JobRun, now: number): string {
  if (started === undefined) return "-";
  return ended === undefined ? ageOf(started, now) : shortDuration(Date.parse(ended) - Date.parse(started));
}

function exitText({ exit_code: code }: JobRun): string {
  return code === undefined || code < 0 ? "-" : String(code);
}
