import { computed, signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import {
  type BackupRun,
  type BackupTarget,
  listBackupRuns,
  listBackupTargets,
  listSnapshots,
  type runBackup,
} from "../../backups/api/backups.ts";
import { endedRuns, haveEnded, isUnfinished } from "../../backups/api/protection.ts";
import { listRehearsals, type Rehearsal } from "../../backups/api/rehearsals.ts";
import { type beginRestore, listRestores, type Restore } from "../../backups/api/restore.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { now } from "../browser/clock.ts";
import { many } from "../text/figures.ts";
import { outcomeText } from "../text/restores.ts";
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
    const made = endedRuns({ since, copies }, found?.runs ?? []);
    if (made === undefined) continue;
    ended.value += 1;
    const failed = made.filter(({ error }) => error !== undefined);
    for (const { what, target, error } of failed) say(`The copy of ${what} to ${target} failed: ${error}`, "bad");
    if (failed.length === 0) say(`${many(made.length, "copy", "copies")} ${verb[1]} at the targets`);
    return;
  }
}

/** What can be restored, as the targets list it now, and what is known of it here. */
export async function findCopies(signal: AbortSignal) {
  const [{ snapshots, unreachable }, { runs }] = await Promise.all([
    api.call(listSnapshots, { signal }),
    api.call(listBackupRuns, { signal }),
  ]);
  return { snapshots, unreachable, runs };
}
export type FoundCopies = Awaited<ReturnType<typeof findCopies>>;

/** Restores that this page began, by their group, as they were last seen. */
export const begunRestores = signal<Readonly<Record<string, readonly Restore[]>>>({});

const restoreLookMs = 1_000;

/** Looks at restores that this page began until they have ended, and says how. */
export async function followRestores({ group, restores }: DataOf<typeof beginRestore>): Promise<void> {
  let rows: readonly Restore[] = restores;
  for (const until = Date.now() + followedMs; Date.now() < until;) {
    begunRestores.value = { ...begunRestores.value, [group]: rows };
    if (haveEnded(rows)) break;
    await new Promise((done) => setTimeout(done, restoreLookMs));
    rows = (await api.call(listRestores, { query: { group } }).catch(() => undefined))?.restores ?? rows;
  }
  ended.value += 1;
  for (const row of rows) say(outcomeText(row), row.error === undefined ? undefined : "bad");
}

/** Rehearsals since the server started, newest first; asks every few seconds while one is under way. */
export function useRehearsals(): Loaded<readonly Rehearsal[]> {
  const isMoving = useRef(true);
  const version = isMoving.current ? Math.floor(now.value / lookMs) : "";
  const loaded = useLoad(
    "rehearsals",
    async (signal) => (await api.call(listRehearsals, { signal })).rehearsals,
    `${told.value} ${version}`,
  );
  isMoving.current = loaded.data?.some(({ ended_at: at }) => at === undefined) ?? false;
  return loaded;
}
