import { isoTime } from "../../base/pure/iso-time.ts";
import { Failure, problemsFailure } from "../../base/wire/failure.ts";
import type { RestoreBody } from "../api/restore.ts";
import type { Snapshot } from "./restic-words.ts";
import { type PartName, partOf, readSubject, stateTag, type VolumeSubject, whatOf } from "./subject.ts";

/** A copy of a volume at a target. */
export interface VolumeCopy extends Snapshot {
  target: string;
  subject: VolumeSubject;
}

export function volumeCopies(target: string, snapshots: readonly Snapshot[]): VolumeCopy[] {
  return snapshots.flatMap((snapshot) => {
    const subject = readSubject(snapshot.tags);
    return subject === undefined ? [] : [{ ...snapshot, target, subject }];
  });
}

/** `data` or `data/0`, as a person names a volume of an app. */
export function isNamed({ claim, ordinal }: VolumeSubject, volume: string | undefined): boolean {
  return volume === undefined || volume === claim || volume === `${claim}/${ordinal}`;
}

/**
 * The copy of each volume that a restore takes: the newest one that fits, of the newest time where several targets have
 * one. Fails `not_found`, and says which copies there are.
 */
export function chooseCopies(copies: readonly VolumeCopy[], body: RestoreBody): VolumeCopy[] {
  const limit = timeOf(body.at);
  const { scope, name, snapshot } = body;
  const named = copies
    .filter(({ subject }) => scope === undefined || subject.scope === scope)
    .filter(({ subject }) => name === undefined || subject.name === name)
    .filter(({ subject }) => isNamed(subject, body.volume));
  if (named.length === 0) throw new Failure("not_found", noneText(copies, body));
  const fitting = named
    .filter(({ at }) => at <= limit)
    .filter(({ id }) => snapshot === undefined || id.startsWith(snapshot));
  if (fitting.length === 0) throw new Failure("not_found", notThenText(named, body));
  const newest = new Map<string, VolumeCopy>();
  for (const copy of fitting.toSorted((a, b) => a.at - b.at)) newest.set(whatOf(copy.subject), copy);
  return [...newest.values()].sort((a, b) => (whatOf(a.subject) < whatOf(b.subject) ? -1 : 1));
}

/**
 * What comes back of a server, with the time of each part: the state of `stateAt`, and the newest copy of each volume, and of
 * what the server holds beside its state, up to `limit`. `together`: a time up to which all of them are of one time, as far as their copies are; undefined where
 * they are of one time already. A volume without a copy for `oldMs` may be of an app that was deleted, and decides nothing.
 */
export function partsOf(
  snapshots: readonly Snapshot[],
  { stateAt, limit, oldMs }: { stateAt: number; limit: number; oldMs: number },
): { rows: { what: string; at: number; isOld: boolean }[]; together: number | undefined } {
  const newest = new Map<string, number>();
  for (const { subject, at } of volumeCopies("", snapshots))
    if (at <= limit) newest.set(whatOf(subject), Math.max(at, newest.get(whatOf(subject)) ?? 0));
  const rows = [...newest].map(([what, at]) => ({ what, at, isOld: stateAt - at > oldMs }));
  // They are copied when they have changed, however long ago that was.
  const beside = newestParts(snapshots, limit).map(({ what, at }) => ({ what, at, isOld: false }));
  const times = rows.filter(({ isOld }) => !isOld).map(({ at }) => at);
  const oldest = Math.min(...times);
  const states = snapshots.filter(({ tags, at }) => tags.includes(stateTag) && at <= oldest);
  const isApart = times.length > 0 && Math.max(stateAt, ...times) - oldest > togetherMs && states.length > 0;
  rows.sort((a, b) => (a.what < b.what ? -1 : 1));
  return { rows: [...beside, ...rows], together: isApart ? oldest : undefined };
}

/** The newest copy up to `limit` of each part that the server holds beside its state. */
export function newestParts(snapshots: readonly Snapshot[], limit: number) {
  const newest = new Map<PartName, Snapshot & { what: PartName }>();
  for (const one of snapshots.toSorted((a, b) => a.at - b.at)) {
    const what = partOf(one.tags);
    if (what !== undefined && one.at <= limit && !one.isDamaged) newest.set(what, { ...one, what });
  }
  return [...newest.values()];
}

/** Copies that were begun one after the other. */
const togetherMs = 60_000;

/** How long a restore or a drill took. */
export interface Timing {
  target: string;
  bytes: number;
  ms: number;
}

/**
 * How long a restore takes: a small one takes most of its time to begin, so the largest from the same target says the
 * most. Undefined where that is much smaller, or where there is none.
 */
export function expectedMs(planned: readonly Pick<Timing, "target" | "bytes">[], timings: readonly Timing[]) {
  const bytes = planned.reduce((sum, one) => sum + one.bytes, 0);
  const [known] = timings.filter(({ target }) => target === planned[0]?.target).sort((a, b) => b.bytes - a.bytes);
  if (known === undefined || (known.bytes < tellingBytes && bytes > tellingBytes)) return undefined;
  return known.ms * Math.max(1, bytes / Math.max(tellingBytes, known.bytes));
}

/** From this size on, the speed of the target counts. */
const tellingBytes = 16 * 1024 * 1024;

/** Without an offset it would be the time of nowhere: the client adds its own. */
function timeOf(at: string | undefined): number {
  if (at === undefined) return Number.POSITIVE_INFINITY;
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/.test(at) ? Date.parse(at) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  const message = `"${at}" is not a time with its zone; write it like 2026-11-28T14:05:00Z`;
  throw problemsFailure([{ path: "at", message }]);
}

function noneText(copies: readonly VolumeCopy[], { scope, name, volume }: RestoreBody): string {
  const asked = [scope, name, volume].filter(Boolean).join("/");
  const apps = [...new Set(copies.map(({ subject }) => `${subject.scope}/${subject.name}`))].sort();
  const there = apps.length === 0 ? "no target holds a copy of a volume" : `there are copies of ${apps.join(", ")}`;
  return `no copy of a volume of ${asked === "" ? "any app" : asked}: ${there}; see: berth backup list`;
}

function notThenText(named: readonly VolumeCopy[], { at, snapshot }: RestoreBody): string {
  const times = named.map((copy) => copy.at).sort((a, b) => a - b);
  const range = `they are of ${isoTime(times[0] ?? 0)} to ${isoTime(times.at(-1) ?? 0)}`;
  const what = snapshot === undefined ? `of ${at} or before` : `with the id ${snapshot}`;
  return `no copy ${what}: ${range}; see: berth backup list`;
}

/** A path in a volume without slashes at its ends. Fails `invalid` for one that leads out of it or names all of it. */
function readPath(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const parts = path.split("/").filter((part) => part !== "");
  const isOdd = parts.some((part) => part === "." || part === "..") || /[\0-\x1f\x7f]/.test(path);
  if (parts.length > 0 && !isOdd) return parts.join("/");
  throw problemsFailure([
    { path: "path", message: `"${path}" is not a file or folder of a volume; write it like etc/app.conf` },
  ]);
}

/** What restic takes for one path alone: its patterns have `*`, `?` and `[`. */
export function includePattern(path: string): string {
  return `/${path.replace(/[\\*?[\]]/g, (letter) => `\\${letter}`)}`;
}

/** Sizes of the files below a path in what `ls --json` lists; undefined where nothing has that path. */
export function sizeBelow(listed: string, path: string): number | undefined {
  let size: number | undefined;
  for (const line of listed.split("\n")) {
    if (!line.includes('"struct_type":"node"')) continue;
    const node = JSON.parse(line) as { path?: unknown; size?: unknown };
    if (node.path !== `/${path}` && !String(node.path).startsWith(`/${path}/`)) continue;
    size = (size ?? 0) + (typeof node.size === "number" ? node.size : 0);
  }
  return size;
}

/** Names of what `ls --json` lists at the top of a snapshot. */
export function namesIn(listed: string): string[] {
  const nodes = listed.split("\n").filter((line) => line.includes('"struct_type":"node"'));
  return nodes.map((line) => String((JSON.parse(line) as { name?: unknown }).name));
}

/** Answers with the path, read. Fails `invalid` for what does not fit together. */
export function checkBody({ way, into, path, name, scope, volume, snapshot }: RestoreBody): string | undefined {
  const problems = [
    ...(way === "into" && into === undefined ? [{ path: "into", message: "name the folder" }] : []),
    ...(way !== "into" && into !== undefined ? [{ path: "into", message: "goes with the way into" }] : []),
    ...(into !== undefined && !isFolderName(into)
      ? [{ path: "into", message: `"${into}" is not the full path of a folder, such as /srv/restored` }]
      : []),
    ...(path !== undefined && way !== "into" && way !== "in_place"
      ? [{ path: "path", message: "goes with --in-place or --into" }]
      : []),
    ...(name !== undefined && scope === undefined ? [{ path: "scope", message: "name the scope of the app" }] : []),
    ...(volume !== undefined && name === undefined ? [{ path: "volume", message: "name the app too" }] : []),
    ...(snapshot !== undefined && !/^[0-9a-f]{4,64}$/.test(snapshot)
      ? [{ path: "snapshot", message: `"${snapshot}" is not an id as berth backup list shows it` }]
      : []),
  ];
  if (problems.length > 0) throw problemsFailure(problems);
  return readPath(path);
}

function isFolderName(path: string): boolean {
  const isOdd = /[\0-\x1f\x7f]/.test(path) || path.split("/").some((part) => part === "." || part === "..");
  return path.startsWith("/") && path.replace(/\/+$/, "") !== "" && !isOdd;
}
