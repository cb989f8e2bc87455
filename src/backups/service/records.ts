import { Failure, shownCause } from "../../base/wire/failure.ts";
import type { Clock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import { dumpClaim, type VolumeSubject, whatOf } from "../core/subject.ts";
import type { Credentials } from "../core/target.ts";

/** What is stored about copies, sealed. Reads see the last commit; writes resolve once they are durable. */
export interface BackupRecords {
  /** The recovery key; undefined before the first target. */
  key(): string | undefined;
  setKey(text: string): Promise<void>;
  targets(): StoredTarget[];
  putTarget(target: StoredTarget): Promise<void>;
  /** Changes it as it stands then; nothing where it was removed. */
  changeTarget(name: string, change: (stands: StoredTarget) => StoredTarget): Promise<void>;
  removeTarget(name: string): Promise<void>;
  /** Newest first; `id` is a target for the copies of the state, and `runsId` for those of a volume. */
  runs(id: string): StoredRun[];
  /** The runs of each volume at a target. */
  volumeRuns(target: string): { what: string; runs: StoredRun[] }[];
  /** Copies at a target that this server made and did not remove, oldest first. */
  copies(target: string): StoredCopy[];
  putCopies(target: string, copies: readonly StoredCopy[]): Promise<void>;
  /** Without `what` those of the state. Nothing where the target was removed; no runs take the record away. */
  putRuns(target: string, runs: readonly StoredRun[], what?: string): Promise<void>;
}

/** Names of targets have no blank. */
export const runsId = (target: string, what: string | undefined) => (what === undefined ? target : `${target} ${what}`);

/** When the newest copy of a volume, or of all data of its block, was begun, as far as the runs of this server tell. */
export function newestCopyIn({
  targets,
  runs,
}: Pick<BackupRecords, "targets" | "runs">): (volume: VolumeSubject) => number | undefined {
  return (volume) => {
    const whats = [volume, { ...volume, claim: dumpClaim, ordinal: undefined }].map(whatOf);
    const all = targets().flatMap(({ name }) => whats.flatMap((what) => runs(runsId(name, what))));
    const good = all.flatMap(({ error, startedAt }) => (error === undefined ? [startedAt] : []));
    return good.length === 0 ? undefined : Math.max(...good);
  };
}

/** Puts a run before the others, of a volume or of the state. Never rejects: on a full disk nothing is recorded. */
export async function recordRun(
  records: Pick<BackupRecords, "runs" | "putRuns">,
  { target, what, run }: { target: string; what: string | undefined; run: StoredRun },
  { log, runsKept }: { log: Log; runsKept: number },
): Promise<void> {
  const kept = [run, ...records.runs(runsId(target, what))].slice(0, runsKept);
  await records
    .putRuns(target, kept, what)
    .catch((error: unknown) => log.error("run of a copy not recorded", { target, what, error }));
}

/** A run that has made nothing yet. */
export const beginRun = (at: number): StoredRun => ({
  ...{ startedAt: at, endedAt: at, snapshot: undefined, bytes: undefined, added: undefined, error: undefined },
});

/** Makes a copy and records the run, with its end. Never rejects for what `work` does: that is in the record. */
export async function recordedRun(
  records: Pick<BackupRecords, "runs" | "putRuns">,
  { target, what, run }: { target: string; what: string | undefined; run: StoredRun },
  { clock, log, runsKept, failed }: { clock: Pick<Clock, "now">; log: Log; runsKept: number; failed: string },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    run.error = shownCause(error);
    log.warn(failed, { target, what, error });
  }
  run.endedAt = clock.now();
  await recordRun(records, { target, what, run }, { log, runsKept });
}

/** Times are epoch milliseconds. */
export interface StoredTarget {
  name: string;
  url: string;
  credentials: Credentials;
  everyMs: number;
  keep: string;
  createdAt: number;
  /** This server may not remove anything there: copies that are too old are removed from elsewhere. */
  appendOnly?: boolean | undefined;
  /** It takes copies of images, too. */
  images?: boolean | undefined;
  /** It takes copies of stored logs, metrics and traces, too. */
  logs?: boolean | undefined;
  /** Newest last. */
  sizes?: { at: number; bytes: number }[] | undefined;
  maxBytes?: number | undefined;
  /** When it was last checked, how often it was, and how that went; `checkFailedAt` is since when it fails. */
  checkedAt?: number | undefined;
  checks?: number | undefined;
  checkError?: string | undefined;
  checkFailedAt?: number | undefined;
  /** Copies there that cannot be restored whole, as the last repair has found. */
  damaged?: string[] | undefined;
  /** When copies of the state that are too old last left the list there. */
  forgottenAt?: number | undefined;
  /** When the data of copies that are too old was last removed there. */
  prunedAt: number | undefined;
}

export interface StoredCopy {
  id: string;
  at: number;
}

export interface StoredRun {
  startedAt: number;
  endedAt: number;
  /** Undefined where it failed. */
  snapshot: string | undefined;
  bytes: number | undefined;
  added: number | undefined;
  /** How long the containers that use the volume were paused; undefined where they were not. */
  pausedMs?: number | undefined;
  /** Digest of what was copied; of the state of the server. */
  state?: string | undefined;
  error: string | undefined;
}

/** The recovery key, made where there is none: one for all that ask before it is stored. */
export function createKey(records: Pick<BackupRecords, "key" | "setKey">, make: () => string): () => Promise<string> {
  let making: Promise<string> | undefined;
  const made = async () => {
    const text = make();
    await records.setKey(text);
    return text;
  };
  return async () => {
    const known = records.key();
    if (known !== undefined) return known;
    making ??= made().finally(() => {
      making = undefined;
    });
    return making;
  };
}

/** Makes copies, and waits for their ends. Fails `conflict` with the first that failed, or whose run was not recorded. */
export async function madeNow(
  records: Pick<BackupRecords, "runs">,
  copies: readonly { target: string; what: string; start(signal: AbortSignal): Promise<void> }[],
  signal: AbortSignal,
): Promise<void> {
  const newest = () => copies.map(({ target, what }) => ({ target, run: records.runs(runsId(target, what))[0] }));
  const before = newest();
  await Promise.all(copies.map((one) => one.start(signal)));
  for (const [index, { target, run }] of newest().entries()) {
    // Compared by no time: the clock may have been set meanwhile.
    const isRecorded = run !== undefined && !Bun.deepEquals(run, before[index]?.run);
    const why = "it is not known whether the copy was made; the log of the server says more";
    const error = isRecorded ? run.error : why;
    if (error !== undefined) throw new Failure("conflict", `at ${target}: ${error}`);
  }
}
