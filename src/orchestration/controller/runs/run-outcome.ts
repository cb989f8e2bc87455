import { formatDuration } from "../../../base/pure/duration.ts";
import type { RunRecord } from "../../store/store.ts";
import type { OneOffResult } from "../state/one-off.ts";
import { shortTail } from "./run-record.ts";

/** Exit code of a record whose process never ended by itself, or never was. */
const noExitCode = -1;

/** How many tries a job allows, and how long one may take. */
interface TryRules {
  /** Tries after the first one. */
  retries: number;
  timeoutMs: number | undefined;
}

/** The record after one try: its end, or the next try. `cancelled` is why it was cancelled, where it was. */
export function afterTry(run: RunRecord, result: OneOffResult, rules: TryRules & { cancelled: string }): RunRecord {
  // A short first try can be over before the server notes that it runs: the engine's own times belong together.
  const startedAt = run.attempt === 1 ? Math.min(run.startedAt ?? result.startedAt, result.startedAt) : run.startedAt;
  const after = { ...run, startedAt, endedAt: result.endedAt, exitCode: result.exitCode, tail: shortTail(result.tail) };
  if (result.end === "cancelled") return { ...after, status: "cancelled", error: rules.cancelled };
  if (result.end === "timed_out") {
    const limit = formatDuration(rules.timeoutMs ?? 0);
    return { ...after, status: "timed_out", error: `took longer than its timeout of ${limit}` };
  }
  if (result.exitCode === 0) return { ...after, status: "succeeded", error: undefined, reason: undefined };
  const reason = result.oomKilled ? "OutOfMemory" : undefined;
  return afterFailure({ ...after, reason }, exitText(result), rules);
}

/** The record after a try that failed, or could not be made: the next try while there is one, else its end. */
export function afterFailure(run: RunRecord, error: string, { retries }: TryRules): RunRecord {
  if (run.attempt > retries) return { ...run, status: "failed", error };
  const tried = `try ${run.attempt} of ${retries + 1}: ${error}`;
  return { ...run, status: "scheduled", attempt: run.attempt + 1, endedAt: undefined, error: tried };
}

/** The record of a run that ended without an exit code of its own. */
export function endedWithout(
  run: RunRecord,
  { status, error, now }: Pick<RunRecord, "status"> & { error: string; now: number },
): RunRecord {
  return { ...run, status, error, endedAt: now, exitCode: noExitCode };
}

function exitText({ exitCode, oomKilled, error }: OneOffResult): string {
  const memory = oomKilled ? ", out of memory" : "";
  return `exit code ${exitCode}${memory}${error === "" ? "" : `: ${error}`}`;
}
