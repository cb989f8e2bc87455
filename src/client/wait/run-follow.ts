import { formatKey, type ManifestKey } from "../../orchestration/api/manifest.ts";
import { getRun, type JobRun, runCronjob, runJob } from "../../orchestration/api/jobs.ts";
import { answer, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import { createRunOutput, type RunOutput } from "./run-output.ts";
import { hasEnded, statusText, tookText } from "../text/run-text.ts";
import { printable } from "../basics/style.ts";

/** Starts a run of a job or cron job. */
export function startRun({ api }: Context, { kind, scope, name }: ManifestKey): Promise<JobRun> {
  // The wait is ours, so that it can be shown and left.
  return api.call(kind === "cronjob" ? runCronjob : runJob, { query: { scope, name, wait: "false" } });
}

/**
 * Waits for the end of a run, shows its output meanwhile, and answers with the exit code: that of the job itself where
 * it has one.
 */
export async function followRun(context: Context, begun: JobRun): Promise<number> {
  const { terminal } = context;
  if (!context.json) terminal.note(terminal.noteStyle.dim(`run ${begun.run_id} of ${formatKey(begun)} started`));
  const output = createRunOutput(context);
  const run = await waitForEnd(context, begun, output);
  if (!hasEnded(run)) {
    terminal.note(`run ${run.run_id} goes on without us; end it with: berth run --cancel ${run.run_id}`);
    return exitCodes.interrupted;
  }
  const rest = context.json ? "" : await restOf(context, output, run);
  answer(context, run, () => rest);
  if (!context.json) terminal.note(closing(context, run));
  return exitOf(run);
}

/** What the server has kept of the output of a try that was not shown to its end. */
async function restOf({ terminal }: Context, output: RunOutput, { container, tail }: JobRun): Promise<string> {
  const { lines, dropped } = await output.missing(container, tail);
  if (dropped) terminal.note(terminal.noteStyle.dim("output was dropped here; these are its last lines:"));
  return lines.map((line) => line.replace(/\r/g, "")).join("\n");
}

/** A try that failed, before the next one: it may have been over between two looks. */
async function tellTry(context: Context, output: RunOutput, failed: JobRun): Promise<void> {
  const { terminal } = context;
  const rest = await restOf(context, output, failed);
  if (rest !== "") terminal.out(rest);
  terminal.note(terminal.noteStyle.dim(`${printable(failed.error ?? "")}; trying again`));
}

/** Short runs are over before the usual pause between two looks. */
const firstPauseMs = 50;

async function waitForEnd(context: Context, begun: JobRun, output: RunOutput): Promise<JobRun> {
  const { api, clock, limits, signal } = context;
  let run = begun;
  let pauseMs = firstPauseMs;
  while (!hasEnded(run) && !signal.aborted) {
    await clock.sleep(pauseMs, signal);
    pauseMs = Math.min(limits.pollMs, pauseMs * 2);
    if (signal.aborted) break;
    const before = run;
    run = await api.call(getRun, { params: { id: begun.run_id } }).catch((error) => {
      // A server that restarts takes its runs up again.
      if (error instanceof CommandFailure && error.exitCode === exitCodes.unreachable) return before;
      throw error;
    });
    const isNextTry = run.attempt > before.attempt && !hasEnded(run);
    if (isNextTry && !context.json) await tellTry(context, output, { ...run, container: before.container });
    if (run.status === "running" && !context.json) output.follow(run);
  }
  return run;
}

function closing({ terminal, clock }: Context, run: JobRun): string {
  const why = run.error === undefined ? "" : `: ${printable(run.error)}`;
  const status = statusText(run, terminal.noteStyle);
  return `run ${run.run_id} of ${formatKey(run)} ${status} after ${tookText(run, clock.now())}${why}`;
}

function exitOf({ status, exit_code: code = -1 }: JobRun): number {
  if (status === "succeeded") return exitCodes.done;
  if (status === "timed_out") return exitCodes.timedOut;
  return status === "failed" && code > 0 && code < 256 ? code : exitCodes.failed;
}
