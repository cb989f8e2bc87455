import { isoTime, spanTimes } from "../../../base/pure/iso-time.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import type { JobRun } from "../../api/jobs.ts";
import { containerName } from "../../core/naming.ts";
import { replicaId } from "../../../base/pure/replica-id.ts";
import { jobOf } from "../../core/spec/decode.ts";
import type { RunRecord, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";

/** What is kept of the output of a run. */
const tailLinesMax = 50;
const tailCharsMax = 16 * 1024;

/** A run that is about to start. `startedAt` is the time of the decision until its container has started. */
export function newRun(
  context: Context,
  { kind, scope, name }: ManifestKey,
  why: Pick<RunRecord, "trigger" | "instant">,
): RunRecord {
  return {
    kind,
    scope,
    name,
    id: freshRunId(context, { kind, scope, name }),
    status: "scheduled",
    ...why,
    attempt: 1,
    startedAt: context.clock.now(),
    endedAt: undefined,
    exitCode: undefined,
    error: undefined,
    tail: [],
  };
}

/** A free one: it is the replica id of the run's container too. */
function freshRunId(context: Context, key: ManifestKey): string {
  for (;;) {
    const id = replicaId(context.randomBytes(5));
    if (context.store.runs.get(id) !== undefined) continue;
    if (context.pods.byName(containerName(key.scope, key.name, id)) === undefined) return id;
  }
}

/** `<scope>-<name>.<run_id>`; a further try has its number behind, so that it is never taken for the one before. */
export function runContainerName({ scope, name, id, attempt }: RunRecord): string {
  return containerName(scope, name, attempt === 1 ? id : `${id}-${attempt}`);
}

export function isUnfinished({ status }: RunRecord): boolean {
  return status === "scheduled" || status === "running";
}

/** What is kept of the output: its last lines. */
export function shortTail(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let chars = 0;
  for (const line of lines.slice(-tailLinesMax).reverse()) {
    chars += line.length + 1;
    if (chars > tailCharsMax) break;
    kept.unshift(line);
  }
  return kept;
}

/**
 * Replaces the row of a run. False, and nothing written, when the run has ended meanwhile or its manifest was deleted,
 * and the row with it.
 */
export function moveRun(tx: Transaction, run: RunRecord): boolean {
  const known = tx.runs.get(run.id);
  if (known === undefined || !isUnfinished(known)) return false;
  tx.runs.put(run);
  return true;
}

/** As `moveRun`, for the end of a run: what did not go well becomes an event, and the history is cut to its limits. */
export function endRun(tx: Transaction, run: RunRecord, now: number): boolean {
  if (!moveRun(tx, run)) return false;
  noteEnd(tx, run, now);
  trimRuns(tx, run);
  return true;
}

/** Success is the rule and shows in the history; everything else is an event too. */
export function noteEnd(tx: Transaction, run: RunRecord, now: number): void {
  if (run.status === "succeeded") return;
  const { kind, scope, name, id, status, instant, exitCode, attempt, error } = run;
  const detail = {
    run_id: id,
    ...(instant === undefined ? {} : { instant: isoTime(instant) }),
    ...(exitCode === undefined ? {} : { exit_code: exitCode, attempt }),
    ...(error === undefined ? {} : { why: error }),
  };
  tx.events.append({ actor: "scheduler", action: `run.${status}`, kind, scope, name, detail }, now);
}

export function trimRuns(tx: Transaction, key: ManifestKey): void {
  const manifest = tx.manifests.get(key);
  const job = manifest && jobOf(manifest);
  if (job !== undefined) tx.runs.trim(key, job.history);
}

/** A run as callers see it. */
export function wireRun(run: RunRecord): JobRun {
  const { instant, startedAt, endedAt, exitCode, error, reason } = run;
  return {
    run_id: run.id,
    kind: run.kind,
    scope: run.scope,
    name: run.name,
    container: runContainerName(run),
    status: run.status,
    trigger: run.trigger,
    attempt: run.attempt,
    ...(instant === undefined ? {} : { instant: isoTime(instant) }),
    ...spanTimes(startedAt, endedAt),
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
    ...(error === undefined ? {} : { error }),
    ...(reason === undefined ? {} : { reason }),
    tail: run.tail,
  };
}
