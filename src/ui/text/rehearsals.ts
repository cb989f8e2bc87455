import type { Rehearsal, RehearsedApp } from "../../backups/api/rehearsals.ts";
import { durationText } from "./figures.ts";
import type { Tone } from "./states.ts";

const states: Record<RehearsedApp["result"], { state: string; tone: Tone }> = {
  failed: { state: "failed", tone: "bad" },
  not_rehearsed: { state: "not rehearsed", tone: "warn" },
  started: { state: "started", tone: "good" },
  passed: { state: "passed", tone: "good" },
};

/** One app of a rehearsal, what it left out, or one that is under way. */
export interface RehearsedRow {
  key: string;
  at: string;
  actor: string;
  app: string;
  state: string;
  tone: Tone;
  /** Until it was ready, and the age of its data; a dash where there is none. */
  time: string;
  age: string;
  notes: string[];
}

/** Rehearsals as a table has them, newest first; of each, what is wrong with the apps of its files comes first. */
export function rehearsalRows(list: readonly Rehearsal[]): RehearsedRow[] {
  const order = Object.keys(states);
  const place = ({ beside, result }: RehearsedApp) => (beside ? order.length : order.indexOf(result));
  return list.flatMap(({ id, started_at: at, ended_at: ended, actor, apps, left_out: left }) => {
    const none = { at, actor, time: "–", age: "–" };
    const underWay: RehearsedRow = { ...none, key: id, app: "", state: "under way", tone: "work", notes: [] };
    return [
      ...(ended === undefined ? [underWay] : []),
      ...apps
        .toSorted((a, b) => place(a) - place(b))
        .map((one) => ({ ...none, key: `${id} ${one.app}`, ...shown(one) })),
      ...left.map(({ ref, why }): RehearsedRow => {
        return { ...none, key: `${id} ${ref}`, app: ref, state: "left out", tone: "idle", notes: [why] };
      }),
    ];
  });
}

function shown(one: RehearsedApp): Pick<RehearsedRow, "app" | "state" | "tone" | "time" | "age" | "notes"> {
  const { app, beside, result, why, release, empty = [], seconds, data_age_seconds: age } = one;
  const notes = [
    ...(why === undefined ? [] : [why]),
    ...(release?.exit_code === 0 ? ["its release command passed"] : []),
    ...(result === "started" && !beside ? ["it has no check that could prove it"] : []),
    ...(empty.length === 0 ? [] : [`empty, without a copy: ${empty.join(", ")}`]),
  ];
  const text = (value: number | undefined) => (value === undefined ? "–" : durationText(value * 1000));
  return { ...states[result], app: beside ? `${app} (beside it)` : app, time: text(seconds), age: text(age), notes };
}
