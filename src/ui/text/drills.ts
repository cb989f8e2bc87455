import type { AppDrill } from "../../backups/api/drills.ts";
import type { App, AppProblem } from "../../observability/api/app-model.ts";
import { durationText } from "./figures.ts";
import type { Tone } from "./states.ts";

/** What a drill has shown, in words of a screen: the worst first. */
export const drillStates: Record<NonNullable<AppDrill["result"]>, { state: string; tone: Tone }> = {
  failed: { state: "failed", tone: "bad" },
  not_drilled: { state: "not drilled", tone: "warn" },
  started: { state: "started", tone: "good" },
  proved: { state: "proved", tone: "good" },
};

export interface DrilledApp {
  app: App;
  state: string;
  tone: Tone;
  drill: AppDrill;
}

/** A row for each app whose copies are or will be tried. */
export function drillRows(apps: readonly App[]): DrilledApp[] {
  const order = Object.keys(drillStates);
  const place = ({ drill: { result } }: DrilledApp) => (result === undefined ? order.length : order.indexOf(result));
  return apps
    .flatMap((app): DrilledApp[] => {
      const { every, drill } = app.backup ?? {};
      if (every === undefined || drill === undefined) return [];
      if (drill.running_since !== undefined) return [{ app, drill, state: "under way", tone: "work" }];
      return [{ app, drill, ...(drill.result === undefined ? notYet : drillStates[drill.result]) }];
    })
    .sort((a, b) => place(a) - place(b));
}

const notYet: { state: string; tone: Tone } = { state: "not yet", tone: "work" };

/** The recovery point and the recovery time; a dash where they were not measured. */
export function drillFigures({ recovery_point_seconds: point, recovery_seconds: time }: AppDrill) {
  const text = (seconds: number | undefined) => (seconds === undefined ? "–" : durationText(seconds * 1000));
  return { point: text(point), time: text(time) };
}

/** Drills that failed, as lists of problems show them. */
export function drillProblems(apps: readonly App[]): AppProblem[] {
  return drillRows(apps).flatMap(({ app: { kind, scope, name }, drill }): AppProblem[] => {
    if (drill.result !== "failed") return [];
    const who = `${scope}/${name}`;
    const title = `The copies of ${who} did not start again in the last drill`;
    const text = { cause: drill.why ?? "", command: `berth backup drill ${who}`, since: drill.started_at };
    return [
      { id: `drill/${kind}/${who}`, severity: "critical", type: "drill", title, ...text, app: { kind, scope, name } },
    ];
  });
}
