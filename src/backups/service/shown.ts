import { formatDuration } from "../../base/pure/duration.ts";
import { isoTime } from "../../base/pure/iso-time.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { BackupRun, BackupTarget, listBackupApps, VolumeCopies } from "../api/backups.ts";
import { isGenerationOnly } from "../core/generation.ts";
import type { Snapshot } from "../core/restic-words.ts";
import {
  firstPassTag,
  imageOf,
  partOf,
  type VolumeSubject,
  readSubject,
  stateTag,
  stateWhat,
  whatOf,
} from "../core/subject.ts";
import { growthOf } from "../core/size.ts";
import type { AppVolumes, CopiedVolume, CopyPolicy } from "./platform.ts";
import type { BackupRecords, StoredRun, StoredTarget } from "./records.ts";
import type { Repository } from "./repository.ts";

/** Whether the first pass over a volume has left it: it may lack files, and does not count as a copy. */
export const isFirstPass = ({ tags }: Snapshot) => tags.includes(firstPassTag);

/** Whether it is one, and neither what a first pass has left nor a generation. */
export const isCopy = (snapshot: Snapshot) => !isFirstPass(snapshot) && !isGenerationOnly(snapshot);

export const newestFirst = (snapshots: readonly Snapshot[]) => snapshots.toSorted((a, b) => b.at - a.at);

export function shownTarget(
  target: StoredTarget,
  {
    runs,
    held,
    nextAt,
    ...more
  }: {
    runs: readonly StoredRun[];
    held: string | undefined;
    nextAt: number;
    currentAt: number | undefined;
    failing: readonly { target: string; what: string; error: string }[];
  },
): BackupTarget {
  const { currentAt, failing } = more;
  const { name, url, everyMs, keep, createdAt, appendOnly, images, logs, maxBytes, sizes, checkedAt, checkError } =
    target;
  const success = runs.find(({ error }) => error === undefined);
  const [failed] = failingOf(name, stateWhat, runs);
  return {
    ...{ name, url, every: formatDuration(everyMs), keep, created_at: isoTime(createdAt) },
    append_only: appendOnly,
    ...{ images, logs },
    size_bytes: sizes?.at(-1)?.bytes,
    growth_bytes: growthOf(sizes),
    max_size_bytes: maxBytes,
    checked_at: checkedAt === undefined ? undefined : isoTime(checkedAt),
    check_error: checkError,
    state_at: currentAt === undefined ? success && isoTime(success.startedAt) : isoTime(currentAt),
    last_success_at: success && isoTime(success.startedAt),
    last_error: failed?.error,
    failing_since: failed && isoTime(failed.sinceAt),
    volume_errors: failing.flatMap((one) => (one.target === name ? [`${one.what}: ${one.error}`] : [])),
    next_at: held === undefined ? isoTime(nextAt) : undefined,
    held,
  };
}

function shownSnapshot(target: string, { id, at, tags, isDamaged }: Snapshot) {
  return { target, id, at: isoTime(at), what: whatIn(tags), volume: readSubject(tags), damaged: isDamaged };
}

/** What a snapshot is a copy of, for people. */
export function whatIn(tags: readonly string[]): string {
  const volume: VolumeSubject | undefined = readSubject(tags);
  const image = imageOf(tags);
  const named = volume === undefined ? (image && `image ${image.slice(0, 19)}`) || partOf(tags) : whatOf(volume);
  if (isGenerationOnly({ tags: [...tags] })) return "the note which server acts";
  return tags.includes(stateTag) ? stateWhat : (named ?? tags.join(", "));
}

function shownRun(target: string, what: string, run: StoredRun): BackupRun {
  const { startedAt, endedAt, snapshot, bytes, added, pausedMs, error } = run;
  const times = { started_at: isoTime(startedAt), ended_at: isoTime(endedAt), paused_ms: pausedMs };
  return { target, what, ...times, snapshot, bytes, added, error };
}

/** Since when the newest runs of a target fail, and why the last one did; empty where it did not. Newest first. */
export function failingOf(target: string, what: string, runs: readonly StoredRun[]) {
  const good = runs.findIndex(({ error }) => error === undefined);
  const failed = good < 0 ? runs : runs.slice(0, good);
  const [newest, oldest] = [failed[0], failed.at(-1)];
  return newest && oldest ? [{ target, what, sinceAt: oldest.startedAt, error: newest.error ?? "" }] : [];
}

/** When the next copy is due. A run that a clock ahead of now has dated says nothing: it is due at once. */
export function nextCopyAt(
  newest: StoredRun | undefined,
  { everyMs, now, retryMs }: { everyMs: number; now: number; retryMs: number },
): number {
  if (newest === undefined || newest.endedAt > now) return now;
  return newest.error === undefined ? newest.startedAt + everyMs : newest.endedAt + Math.min(retryMs, everyMs);
}

/** Whether what is done every so often is due; at once where it never was, or where a clock that was ahead has dated it. */
export function isDueAgain(doneAt: number | undefined, now: number, everyMs: number): boolean {
  return doneAt === undefined || doneAt > now || now - doneAt >= everyMs;
}

/** What all targets that answer say together, and why others do not answer. */
export async function ofEachTarget<Target extends { name: string }, Found>(
  targets: readonly Target[],
  ask: (target: Target) => Promise<Found[]>,
) {
  const unreachable: { target: string; why: string }[] = [];
  const lists = await Promise.all(
    targets.map((target) =>
      ask(target).catch((error: unknown): Found[] => {
        if (!(error instanceof Failure)) throw error;
        unreachable.push({ target: target.name, why: error.message });
        return [];
      }),
    ),
  );
  return { found: lists.flat(), unreachable };
}

/** What was copied, and what the targets hold. Both fail `not_found` for an unknown target. */
export interface Listing {
  listRuns(target: string | undefined): BackupRun[];
  snapshots(target: string | undefined): Promise<{
    snapshots: ReturnType<typeof shownSnapshot>[];
    unreachable: { target: string; why: string }[];
  }>;
}

export function createListing({
  records,
  chosen,
  repositoryOf,
}: {
  records: Pick<BackupRecords, "runs" | "volumeRuns">;
  chosen(target: string | undefined): StoredTarget[];
  repositoryOf(target: StoredTarget): Promise<Repository>;
}): Listing {
  const ofVolumesAt = (name: string) => records.volumeRuns(name).map((one) => ({ name, ...one }));
  return {
    listRuns: (target) =>
      chosen(target)
        .flatMap(({ name }) => [{ name, what: stateWhat, runs: records.runs(name) }, ...ofVolumesAt(name)])
        .flatMap(({ name, what, runs }) => runs.map((run) => shownRun(name, what, run)))
        .sort((a, b) => (a.started_at < b.started_at ? 1 : -1)),
    async snapshots(target) {
      const { found, unreachable } = await ofEachTarget(chosen(target), async (one) => {
        const copies = (await (await repositoryOf(one)).snapshots()).filter(isCopy);
        return newestFirst(copies).map((snapshot) => shownSnapshot(one.name, snapshot));
      });
      return { snapshots: found.sort((a, b) => (a.at < b.at ? 1 : -1)), unreachable };
    },
  };
}

/** Every app with volumes. Copies of a volume that is not protected any more count too: they are still there. */
export function shownApps(
  apps: readonly AppVolumes[],
  {
    targets,
    targetsOf,
    runsOf,
  }: {
    targets: readonly StoredTarget[];
    targetsOf(of: { policy: CopyPolicy }, all: readonly StoredTarget[]): StoredTarget[];
    runsOf(target: string, volume: CopiedVolume): StoredRun[];
  },
): DataOf<typeof listBackupApps>["apps"] {
  const copiesAt = (volume: CopiedVolume, policy: CopyPolicy | undefined): VolumeCopies[] => {
    const wantedAt = policy === undefined ? [] : targetsOf({ policy }, targets);
    if (policy?.target !== undefined && wantedAt.length === 0) {
      return [{ target: policy.target, error: `there is no target "${policy.target}"` }];
    }
    return targets.flatMap((target) => {
      const runs = runsOf(target.name, volume);
      const good = runs.find(({ error }) => error === undefined);
      if (good === undefined && !wantedAt.includes(target)) return [];
      const [failing] = wantedAt.includes(target) ? failingOf(target.name, "", runs) : [];
      const since = failing && isoTime(failing.sinceAt);
      const newest = { at: good && isoTime(good.startedAt), bytes: good?.bytes };
      return [{ target: target.name, ...newest, failing_since: since, error: failing?.error }];
    });
  };
  return apps.map(({ kind, scope, name, policy, volumes }) => ({
    ...{ kind, scope, name, every: policy?.everyText, target: policy?.target },
    volumes: volumes.map((volume) => {
      const { claim, ordinal } = volume.subject;
      const text = ordinal === undefined ? claim : `${claim}/${ordinal}`;
      return { volume: text, copies: copiesAt(volume, policy) };
    }),
  }));
}
