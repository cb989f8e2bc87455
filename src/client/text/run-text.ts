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

/** Output for the terminal: what a program that crashes again and again wrote each time is there once, after a note. */
export function shownOnce(lines: readonly string[], note: (times: number) => string): string[] {
  const { block, times } = repetition(lines);
  const before = lines.slice(0, lines.length - times * block.length).map((line) => printable(line));
  return [...before, ...(times > 1 ? [note(times)] : []), ...block.map((line) => printable(line))];
}

/** The lines at the end that stand there several times in a row. */
function repetition(lines: readonly string[]): { block: readonly string[]; times: number } {
  let found: { block: readonly string[]; times: number } = { block: [], times: 0 };
  for (let size = 1; size * 2 <= lines.length; size++) {
    const block = lines.slice(-size);
    let times = 1;
    while (isBlockAt(lines, block, lines.length - (times + 1) * size)) times++;
    if ((times - 1) * size > Math.max(0, (found.times - 1) * found.block.length)) found = { block, times };
  }
  return found;
}

function isBlockAt(lines: readonly string[], block: readonly string[], start: number): boolean {
  return start >= 0 && block.every((line, index) => line === lines[start + index]);
}
