import { computed, signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import {
  type BackupRun,
  type BackupTarget,
  listBackupRuns,
  listBackupTargets,
  type runBackup,
} from "../../backups/api/backups.ts";
import { listRestores, type Restore } from "../../backups/api/restore.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { now } from "../browser/clock.ts";
import { isUnfinished } from "../text/backups.ts";
import { many } from "../text/figures.ts";
import { api } from "./api.ts";
import { type Loaded, useLoad } from "./load.ts";
import { activity, apps } from "./model.ts";
import { say } from "./notices.ts";

interface Copies {
  targets: readonly BackupTarget[];
  /** Newest first. */
  runs: readonly BackupRun[];
  restores: readonly Restore[];
}

/** What the stream tells of copies: each change of it means that there is more to ask for. */
const told = computed(() => {
  const event = activity.value.find(({ action }) => action.startsWith("backup."));
  return JSON.stringify([event?.seq, apps.value.map(({ backup }) => backup)]);
});

/** Copies that this page began and that have ended. */
const ended = signal(0);

const lookMs = 3_000;

/** Targets, runs and restores. While a copy is due or a restore is under way, it asks every few seconds. */
export function useCopies(): Loaded<Copies> {
  const last = useRef<Copies | undefined>(undefined);
  const isMoving = last.current !== undefined && movesIn(last.current, now.value);
  const version = `${told.value} ${ended.value} ${isMoving ? Math.floor(now.value / lookMs) : ""}`;
  const loaded = useLoad("copies", ask, version);
  last.current = loaded.data;
  return loaded;
}

async function ask(signal: AbortSignal): Promise<Copies> {
  const [{ targets }, { runs }, { restores }] = await Promise.all([
    api.call(listBackupTargets, { signal }),
    api.call(listBackupRuns, { signal }),
    api.call(listRestores, { signal }),
  ]);
  return { targets, runs, restores };
}

function movesIn({ targets, restores }: Copies, at: number): boolean {
  return (
    restores.some(isUnfinished) || targets.some(({ next_at: next }) => next !== undefined && Date.parse(next) <= at)
  );
}

/** After this, the runs of a screen tell how they ended. */
const followedMs = 3_600_000;

/** Says how copies ended that this page began. */
export async function followCopies({ since, copies }: DataOf<typeof runBackup>): Promise<void> {
  if (copies.length === 0) return say("There is no volume to copy yet");
  const verb = copies.length === 1 ? ["has", "is"] : ["have", "are"];
  say(`${many(copies.length, "copy", "copies")} ${verb[0]} begun`, "work");
  for (const until = Date.now() + followedMs; Date.now() < until;) {
    await new Promise((done) => setTimeout(done, lookMs));
    const found = await api.call(listBackupRuns).catch(() => undefined);
    const made = copies.flatMap(
      ({ target, what }) =>
        found?.runs.findLast((run) => run.target === target && run.what === what && run.started_at >= since) ?? [],
    );
    if (made.length < copies.length) continue;
    ended.value += 1;
    const failed = made.filter(({ error }) => error !== undefined);
    for (const { what, target, error } of failed) say(`The copy of ${what} to ${target} failed: ${error}`, "bad");
    if (failed.length === 0) say(`${many(made.length, "copy", "copies")} ${verb[1]} at the targets`);
    return;
  }
}
