import type { BackupRun, listSnapshots } from "../../backups/api/backups.ts";
import type { planRestore, Restore, RestoreBody } from "../../backups/api/restore.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import type { App } from "../../observability/api/app-model.ts";
import { bytesText, durationText, many } from "./figures.ts";
import { exactText } from "./times.ts";

type Snapshot = DataOf<typeof listSnapshots>["snapshots"][number];

interface AppName {
  scope: string;
  name: string;
}

/** An app that there are copies of. */
export interface CopiedApp extends AppName {
  /** No app of this name has volumes now: it was deleted, or has none any more. */
  isGone: boolean;
  /** As commands name them: `media`, or `data/0` of a claim. */
  volumes: string[];
}

export const appText = ({ scope, name }: AppName) => `${scope}/${name}`;

const volumeText = ({ claim, ordinal }: NonNullable<Snapshot["volume"]>) =>
  ordinal === undefined ? claim : `${claim}/${ordinal}`;

/** Apps with copies, in the order of their names; those that are gone come last. */
export function copiedApps(snapshots: readonly Snapshot[], apps: readonly App[]): CopiedApp[] {
  const found = new Map<string, CopiedApp>();
  for (const { volume } of snapshots) {
    if (volume === undefined) continue;
    const { scope, name } = volume;
    const now = apps.find((app) => app.scope === scope && app.name === name && app.backup !== undefined);
    const app: CopiedApp = found.get(appText(volume)) ?? { scope, name, isGone: now === undefined, volumes: [] };
    if (!app.volumes.includes(volumeText(volume))) app.volumes.push(volumeText(volume));
    found.set(appText(volume), app);
  }
  const order = (app: CopiedApp) => `${app.isGone ? 1 : 0} ${appText(app)}`;
  for (const { volumes } of found.values()) volumes.sort();
  return [...found.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** Copies of volumes of one app that were made together at one target. */
export interface CopyPoint {
  /** When the last of them was begun. */
  at: string;
  target: string;
  /** Each is a copy of another volume. */
  copies: { volume: string; id: string; bytes: number | undefined }[];
}

/** Copies of one round begin one after the other; a longer pause between them means another round. */
const roundMs = 3_600_000;

/** What can be chosen for an app, newest first. `volume`: only copies of this one. */
export function copyPoints(
  { snapshots, runs }: { snapshots: readonly Snapshot[]; runs: readonly BackupRun[] },
  app: AppName,
  volume?: string,
): CopyPoint[] {
  const open = new Map<string, CopyPoint>();
  const points: CopyPoint[] = [];
  for (const one of snapshots.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const { target, at, id, volume: of } = one;
    if (of === undefined || appText(of) !== appText(app)) continue;
    const name = volumeText(of);
    if (volume !== undefined && volume !== name) continue;
    const copy = { volume: name, id, bytes: runs.find((run) => run.target === target && isOf(run, id))?.bytes };
    const round = open.get(target);
    const goesOn = round !== undefined && Date.parse(at) - Date.parse(round.at) <= roundMs;
    if (goesOn && !round.copies.some((other) => other.volume === name)) {
      round.at = at;
      round.copies.push(copy);
      continue;
    }
    const begun = { at, target, copies: [copy] };
    open.set(target, begun);
    points.push(begun);
  }
  return points.sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || a.target.localeCompare(b.target));
}

const isOf = ({ snapshot }: BackupRun, id: string) =>
  snapshot !== undefined && (id.startsWith(snapshot) || snapshot.startsWith(id));

/** Size of all its volumes; undefined where that of one is not known any more. */
export function pointBytes({ copies }: CopyPoint): number | undefined {
  return copies.reduce<number | undefined>(
    (sum, { bytes }) => (sum === undefined || bytes === undefined ? undefined : sum + bytes),
    0,
  );
}

/** For one volume it names exactly the copy that was chosen; for several the newest of each, up to that time. */
export function restoreBody(
  chosen: { app: CopiedApp; volume: string | undefined; point: CopyPoint; path?: string | undefined },
  way: "in_place" | "beside",
): RestoreBody {
  const { scope, name, volumes } = chosen.app;
  const { volume, point } = chosen;
  const { at, target: from, copies } = point;
  const [only] = copies;
  const isOne = volume !== undefined || volumes.length === 1;
  const which = isOne && only !== undefined ? { snapshot: only.id } : { at };
  const path = chosen.path?.trim() || undefined;
  return { scope, name, volume, from, way, path, ...which };
}

const shellWord = (text: string) => (/^[\w./@%+:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** The command that does the same. Without an app it means every volume that is missing. */
export function restoreLine({ scope, name = "", volume, from, at, snapshot, way, path }: RestoreBody): string {
  return [
    `berth backup restore ${scope === undefined ? "--all" : `${scope}/${name}`}`,
    ...(volume === undefined ? [] : [`--volume ${volume}`]),
    ...(snapshot === undefined ? [] : [`--snapshot ${snapshot.slice(0, 8)}`]),
    ...(at === undefined ? [] : [`--at ${at}`]),
    ...(from === undefined ? [] : [`--from ${from}`]),
    ...(path === undefined ? [] : [`--path ${shellWord(path)}`]),
    ...(way === undefined ? [] : [way === "beside" ? "--beside" : "--in-place"]),
  ].join(" ");
}

/** Blocks of databases have a volume of this name. */
const backupsText =
  "A volume of backups holds no data of a database: afterwards, restore a backup of it on the page of the database";

/** What a person should know of a plan beside its rows. */
export function planNotes({ volumes, uncopied = [], unreachable }: DataOf<typeof planRestore>): string[] {
  const days = volumes.map(({ at }) => Date.parse(at));
  const apart = Math.max(...days) - Math.min(...days);
  return [
    ...(apart > roundMs ? [`The copies of the volumes were made ${durationText(apart)} apart`] : []),
    ...(volumes.some(({ what }) => /-backups$/.test(what)) ? [backupsText] : []),
    ...uncopied.map((what) => `${what} is missing, and no target has a copy of it`),
    ...unreachable.map(({ target, why }) => `${target} does not answer, so its copies are not looked at: ${why}`),
  ];
}

/** How long a restore will take. */
export function restoreTime({ seconds }: Pick<DataOf<typeof planRestore>, "seconds">): string {
  if (seconds === undefined)
    return "How long it takes is not known: no restore or drill of that size was made from there yet";
  return `It takes about ${durationText(seconds * 1_000)}, as restores and drills from there took`;
}

/** The volume, or the part of it that is restored. */
export const partText = ({ what, path }: { what: string; path?: string | undefined }) =>
  path === undefined ? what : `${path} of ${what}`;

/** How a restore of one volume is or ended, as a sentence. */
export function outcomeText(restore: Restore, zone?: string): string {
  const { state, error, way, mount = "", volume = "" } = restore;
  const what = partText(restore);
  const of = `the copy of ${exactText(Date.parse(restore.at), zone)}`;
  if (error !== undefined) return `${what}: ${error}`;
  if (state === "waiting") return `${what} waits for another copy or restore to end`;
  if (state === "fetching") {
    const { bytes, bytes_fetched: there } = restore;
    const far = there === undefined ? "" : `, ${bytesText(there)} of ${bytesText(bytes)} so far`;
    return `${what}: ${of} is fetched from ${restore.target}${far}`;
  }
  if (state === "placing") return `${what}: the data is put in its place`;
  if (state === "undoing") return `${what}: the data of before is put back`;
  if (state === "undone") return `${what} has the data of before the restore again`;
  if (way === "beside")
    return `${what}: ${of} is in the new volume ${volume}; manifests of the scope mount it as ${mount}`;
  return `${what} has the data of ${of}`;
}

/** What can be brought back to how it was: `volume` is as commands name it. */
export interface Undoable extends AppName {
  volume?: string | undefined;
}

/** The app and volume of a restore whose replaced data is kept, where it is the newest one of that volume. */
export function undoable(restore: Restore, all: readonly Restore[]): Undoable | undefined {
  const { what, way, state, kept_until: kept, started_at: at } = restore;
  if (way !== "in_place" || state !== "done" || kept === undefined) return undefined;
  if (all.some((other) => other.what === what && isKept(other) && other.started_at > at)) return undefined;
  const [scope = "", name = "", ...volume] = what.split("/");
  return { scope, name, volume: volume.join("/") };
}

const isKept = ({ way, state, kept_until: kept }: Restore) =>
  way === "in_place" && state === "done" && kept !== undefined;

/** `2 volumes`, or the name of the one. */
export function volumesText({ copies }: CopyPoint): string {
  const [only] = copies;
  return copies.length === 1 && only !== undefined ? only.volume : many(copies.length, "volume");
}
