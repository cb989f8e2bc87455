import { isoTime } from "../../../base/pure/iso-time.ts";
import type { ManifestKey, StoredManifest } from "../../api/manifest.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import { type CronDecision, decide, dueInstants, nextInstant } from "../../core/plan/cron.ts";
import { cronWindows } from "../../core/plan/cron-windows.ts";
import type { RunRecord, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { replace } from "./jobs.ts";
import { newRun, noteEnd, trimRuns } from "./run-record.ts";

export interface CronLooked {
  /** Runs whose rows are written now, each with those that it takes the place of. */
  started: { run: RunRecord; replaced: RunRecord[] }[];
  /** When to look again; undefined for never. */
  next: number | undefined;
}

/** After a long absence more instants than these are not told apart. */
const dueMax = 100;

/**
 * Decides on every instant of a cron job that has come since the last look, and writes a row for each: scheduled,
 * missed or skipped. Inside a transaction, so that an instant has a row or was never looked at.
 */
export function lookAtCronjob(
  context: Context,
  tx: Transaction,
  { key, now }: { key: ManifestKey; now: number },
): CronLooked {
  const manifest = tx.manifests.get(key);
  if (manifest === undefined) return { started: [], next: undefined };
  const { expression, timezone, suspended } = decodeSpec("cronjob", manifest.spec);
  const schedule = { expression, timezone, suspended };
  const { windows, seen, nextAfter, reopened } = cronWindows({
    schedule,
    updatedAt: manifest.updatedAt,
    seen: tx.seenSchedules.get(key),
    lastInstant: tx.runs.lastInstant(key),
    now,
  });
  if (reopened !== undefined) tx.runs.dropMissed(key, reopened);
  const due = windows.flatMap((window) => dueInstants({ ...window, limit: dueMax }));
  const { started, missedUntil } = settle(context, tx, { manifest, due, now });
  // While instants are open again, those that are missed now do not close the rest.
  const isNew = missedUntil !== undefined && reopened === undefined;
  tx.seenSchedules.put(key, isNew ? { ...seen, missed: { after: windows[0]?.after ?? 0, until: missedUntil } } : seen);
  const next = schedule.suspended ? undefined : nextInstant({ ...schedule, after: nextAfter });
  return { started, next };
}

function settle(
  context: Context,
  tx: Transaction,
  { manifest, due, now }: { manifest: StoredManifest; due: number[]; now: number },
): { started: CronLooked["started"]; missedUntil: number | undefined } {
  if (due.length === 0) return { started: [], missedUntil: undefined };
  const others = tx.runs.unfinishedOf(manifest);
  const { policy, startingDeadlineMs } = decodeSpec("cronjob", manifest.spec);
  const decided = decide({ due, now, policy, startingDeadlineMs, running: others.length });
  const decisions = decided.map((one) => (one.instant < context.gate.actsSince() ? leftToOther(one) : one));
  const notRun = decisions.filter(({ action }) => action === "missed" || action === "skipped");
  noteNotRun(context, tx, { manifest, notRun, now });
  const started = decisions.flatMap((decision) => {
    if (decision.action === "missed" || decision.action === "skipped") return [];
    if (others.length < context.limits.runsAtOnceMax || decision.action === "replace") {
      const run = newRun(context, manifest, { trigger: "schedule", instant: decision.instant });
      if (!tx.runs.put(run)) return [];
      return [{ run, replaced: decision.action === "replace" ? replace(context, tx, { others, by: run }) : [] }];
    }
    const why = `${others.length} runs are under way; at most ${context.limits.runsAtOnceMax} are allowed`;
    noteNotRun(context, tx, { manifest, notRun: [{ ...decision, action: "skipped", why }], now });
    return [];
  });
  return { started, missedUntil: decisions.findLast(({ action }) => action === "missed")?.instant };
}

/** Another server acted then, and a copy of its state does not say whether it ran the job. */
function leftToOther(decision: CronDecision): CronDecision {
  if (decision.action === "missed" || decision.action === "skipped") return decision;
  const why = "it was due before this server took the place of another one, which may have run it";
  return { ...decision, action: "missed", why };
}

/** A row for each; one event for each too, but one for all of a backlog. */
function noteNotRun(
  context: Context,
  tx: Transaction,
  { manifest, notRun, now }: { manifest: StoredManifest; notRun: CronDecision[]; now: number },
): void {
  const rows = notRun.flatMap(({ instant, action, why }): RunRecord[] => {
    const status = action === "missed" ? "missed" : "skipped";
    const run = newRun(context, manifest, { trigger: "schedule", instant });
    const row: RunRecord = { ...run, status, error: why, startedAt: undefined, endedAt: now };
    return tx.runs.put(row) ? [row] : [];
  });
  const [first, ...others] = rows;
  const last = others.at(-1);
  if (first !== undefined && last !== undefined) noteBacklog(tx, { first, last, count: rows.length, now });
  else if (first !== undefined) noteEnd(tx, first, now);
  if (rows.length > 0) trimRuns(tx, manifest);
}

function noteBacklog(
  tx: Transaction,
  { first, last, count, now }: { first: RunRecord; last: RunRecord; count: number; now: number },
): void {
  const { kind, scope, name } = first;
  const instants = { count, first: isoTime(first.instant ?? now), last: isoTime(last.instant ?? now) };
  const detail = { ...instants, ...(count === dueMax ? { more: true } : {}), why: last.error };
  tx.events.append({ actor: "scheduler", action: `run.${last.status}`, kind, scope, name, detail }, now);
}
