import { isoTime } from "../../../base/pure/iso-time.ts";
import { keyOf } from "../../../orchestration/api/manifest-key.ts";
import type { Condition } from "../../api/alert-rules.ts";
import type { AppProblem, AppRef } from "../../api/app-model.ts";
import { type Labels, labelText } from "../alerts/labels.ts";

/** An alert that fires and that somebody has to act upon. */
export interface Alarm {
  rule: string;
  severity: "critical" | "warning";
  title: string;
  detail: string;
  labels: Labels;
  /** Epoch milliseconds of when what it is about began. */
  since: number;
  /** The change before it that is its likeliest cause, in words. */
  began: string | undefined;
  /** The command to type next. */
  command: string | undefined;
  /** What its rule watches, of the states that the platform knows. */
  condition: Condition | undefined;
  /** Visitors of the app get errors. */
  isOfVisitors: boolean;
}

/** Problems that say the same as an alert about a state: one fault is one row. */
const saidBy: Readonly<Record<Condition, readonly string[]>> = {
  down: ["down", "crash_loop", "out_of_memory"],
  not_ready: ["not_ready", "crash_loop", "out_of_memory", "down"],
  crash_loop: ["crash_loop", "out_of_memory"],
  out_of_memory: ["out_of_memory", "crash_loop"],
  deploy_failed: ["failed_release"],
  run_failed: ["failed_run"],
  run_missed: ["missed_run"],
  certificate: ["certificate"],
  engine: ["engine"],
  ingress: ["ingress"],
  disk_full: ["disk"],
  backup: [],
  drain: [],
};

/** Whether an alarm is about an app. Alerts about its requests do not say of which kind it is. */
export function isAboutApp({ labels }: Alarm, { kind, scope, name }: AppRef): boolean {
  return labels.scope === scope && labels.name === name && (labels.kind === undefined || labels.kind === kind);
}

/** What needs attention because an alert fires; those that a problem tells already are left out. */
export function alarmProblems(alarms: readonly Alarm[], known: readonly AppProblem[], app?: AppRef): AppProblem[] {
  return alarms.flatMap((alarm) => {
    const said = alarm.condition === undefined ? [] : saidBy[alarm.condition];
    const isTold = known.some((problem) => said.includes(problem.type) && isOfSame(problem, alarm.labels));
    return isTold ? [] : [problemOf(alarm, app ?? jobOf(alarm.labels))];
  });
}

function isOfSame({ app, id }: AppProblem, { scope, name, host }: Labels): boolean {
  if (host !== undefined) return id.endsWith(`/${host}`);
  return app === undefined ? name === undefined : app.scope === scope && app.name === name;
}

function jobOf({ kind, scope, name }: Labels): AppRef | undefined {
  if (kind === undefined || scope === undefined || name === undefined) return undefined;
  return { kind, scope, name };
}

function problemOf(alarm: Alarm, app: AppRef | undefined): AppProblem {
  const { rule, labels, severity, title, since, command } = alarm;
  return {
    id: `alert/${rule}/${labelText(labels)}`,
    ...{ severity, type: rule, title, cause: causeText(alarm), command, since: isoTime(since) },
    app: app && keyOf(app),
  };
}

export function causeText({ detail, began }: Alarm): string {
  return began === undefined ? detail : `${detail}; the last change before it: ${began}`;
}
