import { isoTime } from "../../base/pure/iso-time.ts";
import { Failure, problemsFailure } from "../../base/wire/failure.ts";
import type { AppDrill, Drill, DrillBody, DrillResult } from "../api/drills.ts";
import type { Timing, VolumeCopy } from "./restore-choice.ts";
import { notCopied } from "./target.ts";
import { type VolumeSubject, whatOf } from "./subject.ts";

/** What is known of the drills of an app. Times are epoch milliseconds. */
export interface StoredDrill {
  scope: string;
  kind: string;
  name: string;
  /** When it was first seen as protected. */
  since: number;
  /** One is under way. */
  runningSince: number | undefined;
  last: EndedDrill | undefined;
  lastSuccessAt: number | undefined;
  /** Start of the first of those in a row that failed. */
  failingSince: number | undefined;
}

export interface EndedDrill {
  startedAt: number;
  endedAt: number;
  result: DrillResult;
  why: string | undefined;
  target: string | undefined;
  copyAt: number | undefined;
  bytes: number | undefined;
  /** Until the app was ready. */
  recoveryMs: number | undefined;
}

interface DrillTimes {
  drillEveryMs: number;
  drillRetryMs: number;
  drillFirstMs: number;
  drillOldMs: number;
}

interface DrilledApp {
  scope: string;
  kind: string;
  name: string;
  policy: unknown;
  volumes: readonly { subject: VolumeSubject; volume: string }[];
}

export const drillId = ({ scope, kind, name }: Pick<DrilledApp, "scope" | "kind" | "name">) =>
  `${scope}/${kind}/${name}`;

/** How long the last one took, where it came to its end. */
export function drillTimings({ last }: StoredDrill): Timing[] {
  const { target, bytes, recoveryMs: ms } = last ?? {};
  return target === undefined || bytes === undefined || ms === undefined ? [] : [{ target, bytes, ms }];
}

/** The protected apps that a request means. Fails where there is none, and says what to do. */
export function chosenApps<A extends DrilledApp>(
  apps: readonly A[],
  { scope, name }: DrillBody,
  guarded: readonly A[],
): A[] {
  if (name !== undefined && scope === undefined)
    throw problemsFailure([{ path: "scope", message: "name the scope of the app" }]);
  const isNamed = (app: A) => (scope ?? app.scope) === app.scope && (name ?? app.name) === app.name;
  const [named, chosen] = [apps.filter(isNamed), guarded.filter(isNamed)];
  if (chosen.length > 0) return chosen;
  const what = [scope, name].filter((one) => one !== undefined).join("/");
  if (named.length > 0 && name !== undefined) throw notCopied(what);
  throw new Failure(
    "not_found",
    `no app${what === "" ? "" : ` of ${what}`} is copied: add \`backup: {}\` to its manifest`,
  );
}

/** The newest copy of each volume of an app, and what has none. A replica that the app does not have any more needs none. */
export function copiesOf(
  { volumes }: Pick<DrilledApp, "volumes">,
  copies: readonly VolumeCopy[],
  replicas: number,
): { found: (VolumeCopy & { volume: string })[]; missing: { what: string; volume: string }[] } {
  const wanted = volumes.filter(({ subject: { ordinal = 0 } }) => ordinal < replicas);
  const found: (VolumeCopy & { volume: string })[] = [];
  const missing: { what: string; volume: string }[] = [];
  for (const { subject, volume } of wanted) {
    const own = copies.filter((copy) => whatOf(copy.subject) === whatOf(subject) && copy.subject.kind === subject.kind);
    const newest = own.toSorted((a, b) => b.at - a.at)[0];
    if (newest === undefined) missing.push({ what: whatOf(subject), volume });
    else found.push({ ...newest, volume });
  }
  return { found, missing };
}

export function freshDrill(
  { scope, kind, name }: Pick<DrilledApp, "scope" | "kind" | "name">,
  since: number,
): StoredDrill {
  const nothing = { runningSince: undefined, last: undefined, lastSuccessAt: undefined, failingSince: undefined };
  return { ...nothing, scope, kind, name, since };
}

/** When the next one is due. What a clock ahead of now has dated says nothing: it is due at once. */
function dueAt({ since, last }: StoredDrill, times: DrillTimes, now: number): number {
  if ((last?.endedAt ?? since) > now) return now;
  if (last === undefined) return since + times.drillFirstMs;
  return last.endedAt + (last.result === "failed" ? times.drillRetryMs : times.drillEveryMs);
}

export function dueScopes(drills: readonly StoredDrill[], times: DrillTimes, now: number): Set<string> {
  const due = drills.filter((drill) => drill.runningSince === undefined && dueAt(drill, times, now) <= now);
  return new Set(due.map(({ scope }) => scope));
}

/** The record once a drill has its result. It is under way until all of it was removed. */
export function ended(before: StoredDrill, last: EndedDrill): StoredDrill {
  const isGood = last.result === "proved" || last.result === "started";
  return {
    ...before,
    last,
    lastSuccessAt: isGood ? last.endedAt : before.lastSuccessAt,
    failingSince: last.result === "failed" ? (before.failingSince ?? last.startedAt) : undefined,
  };
}

/** What an alert is about: a drill that failed, or no good one for long. An app that cannot be drilled is neither. */
export function failingDrill(
  drill: StoredDrill,
  now: number,
  { drillOldMs }: DrillTimes,
): { target: string; what: string; sinceAt: number; error: string } | undefined {
  const { scope, name, last, failingSince, since, lastSuccessAt } = drill;
  const what = `drill ${scope}/${name}`;
  if (failingSince !== undefined)
    return { target: last?.target ?? "", what, sinceAt: failingSince, error: last?.why ?? "" };
  const goodAt = lastSuccessAt ?? since;
  if (last?.result === "not_drilled" || now - goodAt < drillOldMs) return undefined;
  const error = `no drill has succeeded since then; try one: berth backup drill ${scope}/${name}`;
  return { target: last?.target ?? "", what, sinceAt: goodAt, error };
}

/** Those that never were drilled come last. */
export const newestFirst = (drills: readonly StoredDrill[]): StoredDrill[] =>
  drills.toSorted((a, b) => (b.last?.startedAt ?? 0) - (a.last?.startedAt ?? 0));

export function shownDrill(drill: StoredDrill, times: DrillTimes, now: number): Drill {
  const { scope, name, kind } = drill;
  return { app: `${scope}/${name}`, kind, ...shownAppDrill(drill, times, now) };
}

export function shownAppDrill(drill: StoredDrill, times: DrillTimes, now: number): AppDrill {
  const { runningSince, last, lastSuccessAt } = drill;
  const time = (at: number | undefined) => (at === undefined ? undefined : isoTime(at));
  return {
    ...{
      running_since: time(runningSince),
      result: last?.result,
      why: last?.why,
      target: last?.target,
      bytes: last?.bytes,
    },
    ...{ started_at: time(last?.startedAt), ended_at: time(last?.endedAt), copy_at: time(last?.copyAt) },
    recovery_point_seconds:
      last?.copyAt === undefined ? undefined : Math.max(0, Math.round((last.startedAt - last.copyAt) / 1000)),
    recovery_seconds: last?.recoveryMs === undefined ? undefined : Math.round(last.recoveryMs / 100) / 10,
    ...{ last_success_at: time(lastSuccessAt), next_at: time(dueAt(drill, times, now)) },
  };
}
