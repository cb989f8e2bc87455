import { durationForm, formatDuration, parseDuration } from "../../../base/pure/duration.ts";
import type { Problem } from "../../../base/wire/failure.ts";
import type { RuleBody, Watch } from "../../api/alert-rules.ts";
import type { Severity } from "../../api/alerts.ts";
import type { LogAsk, MetricAsk } from "./facts.ts";

/** A rule as it is evaluated, all defaults filled in. */
export interface ActiveRule {
  name: string;
  watch: Watch;
  severity: Severity;
  forMs: number;
  keepMs: number;
  title?: string;
  apps?: readonly string[];
  groupBy: readonly string[];
  channels?: readonly string[];
  enabled: boolean;
}

const minute = 60_000;
const spanMs = 5 * minute;

/** A rule of a body that `ruleProblems` found nothing wrong with. */
export function activeRule(name: string, body: RuleBody): ActiveRule {
  return {
    name,
    watch: body.watch,
    severity: body.severity ?? "warning",
    forMs: durationOr(body.for, minute),
    keepMs: durationOr(body.keep, 2 * minute),
    title: body.title,
    apps: body.apps,
    groupBy: body.group_by ?? [],
    channels: body.channels,
    enabled: body.enabled ?? true,
  };
}

function durationOr(text: string | undefined, otherwiseMs: number): number {
  return text === undefined ? otherwiseMs : (parseDuration(text) ?? otherwiseMs);
}

export function metricAsk(watch: Extract<Watch, { type: "metric" }>): MetricAsk {
  const { metric, agg = "avg", over, group_by: groupBy = [] } = watch;
  return { metric, agg, overMs: durationOr(over, spanMs), groupBy };
}

export function logAsk({ pattern, level, within }: Extract<Watch, { type: "log" }>): LogAsk {
  return { pattern, level, withinMs: durationOr(within, spanMs) };
}

export function durationText(ms: number): string {
  return formatDuration(ms);
}

const ruleName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** What the schema cannot say. `path` is empty for the name. */
export function ruleProblems(name: string, body: RuleBody): Problem[] {
  return [
    ...nameProblems("rule", name),
    ...durationProblems("for", body.for),
    ...durationProblems("keep", body.keep),
    ...watchProblems(body.watch),
  ];
}

/** Rules, channels and silences are named alike. */
export function nameProblems(noun: string, name: string): Problem[] {
  if (ruleName.test(name)) return [];
  const message = `${noun} name ${JSON.stringify(name)} is not valid; use 1 to 63 lowercase letters, digits and dashes`;
  return [{ path: "", message }];
}

export function durationProblems(path: string, text: string | undefined): Problem[] {
  if (text === undefined || parseDuration(text) !== undefined) return [];
  return [{ path, message: `${JSON.stringify(text)} is not a duration; ${durationForm}` }];
}

function requestProblems(watch: Extract<Watch, { type: "requests" }>): Problem[] {
  const { failed_percent: failed, failed_percent_of: failedOf = {}, p99_ms: p99 } = watch;
  const hasLimit = failed !== undefined || p99 !== undefined || Object.keys(failedOf).length > 0;
  const none = { path: "watch", message: "requests need a limit: set failed_percent, p99_ms or both" };
  const strangers = Object.keys(failedOf).filter((app) => !/^[a-z0-9][a-z0-9-]*\/[a-z0-9][a-z0-9._-]*$/.test(app));
  const forms = strangers.map((app) => ({
    path: `watch.failed_percent_of.${app}`,
    message: `${JSON.stringify(app)} names no app; write SCOPE/NAME of one app`,
  }));
  return [...(hasLimit ? [] : [none]), ...forms];
}

function watchProblems(watch: Watch): Problem[] {
  if (watch.type === "metric") {
    const hasLimit = watch.above !== undefined || watch.below !== undefined;
    const missing = { path: "watch", message: "a metric needs a limit: set above, below or both" };
    return [...durationProblems("watch.over", watch.over), ...(hasLimit ? [] : [missing])];
  }
  if (watch.type === "log") return durationProblems("watch.within", watch.within);
  if (watch.type === "requests") return requestProblems(watch);
  return [];
}
