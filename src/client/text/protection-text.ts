import type { AppBackup, BackupTarget } from "../../backups/api/backups.ts";
import type { AppDrill } from "../../backups/api/drills.ts";
import { copiesFail, protectionOf } from "../../backups/api/protection.ts";
import { formatDuration } from "../../base/pure/duration.ts";
import type { Manifest } from "../../orchestration/api/manifest.ts";
import { printable, type Style } from "../basics/style.ts";
import { timeText } from "./time-text.ts";

export interface Protection {
  protected: number;
  not: string[];
  /** Databases that are backed up by a schedule, but on this machine alone. */
  local: string[];
  /** Places that copies go to. */
  targets: number | undefined;
  /** What the last drills have shown. */
  drills?: DrillSummary | undefined;
}

/** What changes it. */
export const protectText = "add `backup: {}` to its manifest; see: berth backup target add --help";

/**
 * Counts the apps with volumes that have the field `backup`, and names the others. `apps` is undefined where the server does
 * not say; `manifests` are all that are stored.
 */
export function protectionIn(
  apps: readonly CopiedApp[] | undefined,
  manifests: readonly Manifest[],
  targets: number | undefined,
): Protection {
  const not = (apps ?? []).filter((app) => protectionOf(app) === "not protected").map(nameOf);
  // What `backups` of a block of a database becomes.
  const scheduled = new Set(manifests.flatMap((one) => (one.kind === "cronjob" ? [nameOf(one)] : [])));
  const isLocal = (name: string) => scheduled.has(`${name}.backup`);
  return {
    protected: (apps ?? []).length - not.length,
    not: not.filter((name) => !isLocal(name)),
    local: not.filter(isLocal),
    targets,
    drills: apps && drillsIn(apps),
  };
}

const nameOf = ({ scope = "", name }: Pick<Manifest, "scope" | "name">) => `${scope}/${name}`;

/** What the last drills of all protected apps have shown. */
interface DrillSummary {
  /** How many stood again from their copies; of those the age of the oldest copy, and the longest time. */
  good: number;
  recovery_point_seconds: number | undefined;
  recovery_seconds: number | undefined;
  failed: { app: string; why: string }[];
  not_drilled: { app: string; why: string }[];
  /** Not drilled so far. */
  waiting: number;
}

export type CopiedApp = AppBackup & { scope: string; name: string };

function drillsIn(apps: readonly CopiedApp[]): DrillSummary {
  const drills = apps.flatMap(({ scope, name, every, drill }) =>
    every === undefined ? [] : [{ ...drill, app: `${scope}/${name}` }],
  );
  const good = drills.filter(({ result }) => result === "proved" || result === "started");
  const most = (figures: (number | undefined)[]) => {
    const known = figures.filter((one) => one !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  };
  const of = (wanted: AppDrill["result"]) =>
    drills.flatMap(({ app, result, why = "" }) => (result === wanted ? [{ app, why }] : []));
  return {
    good: good.length,
    recovery_point_seconds: most(good.map((one) => one.recovery_point_seconds)),
    recovery_seconds: most(good.map((one) => one.recovery_seconds)),
    ...{ failed: of("failed"), not_drilled: of("not_drilled"), waiting: of(undefined).length },
  };
}

/** A line about copies and one about drills, and no fault: what is not protected may be worth nothing. */
export function protectionRows(protection: Protection, style: Pick<Style, "red" | "yellow">): string[][] {
  return [...copyRows(protection), ...drillRows(protection.drills, style)];
}

function copyRows({ protected: count, not, local, targets }: Protection): string[][] {
  const all = count + not.length + local.length;
  if (all === 0) return [];
  if (count > 0 && targets === 0)
    return [["backups", "nothing is copied: there is no target; see: berth backup target add --help"]];
  const parts = [
    `${count} of ${all} apps with volumes are copied`,
    ...(not.length === 0 ? [] : [`not protected: ${firstOf(not)}`]),
    ...(local.length === 0 ? [] : [`with backups on this machine alone: ${firstOf(local)}`]),
  ];
  return [["backups", parts.join("; ")]];
}

function firstOf(names: readonly string[]): string {
  const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : "";
  return `${names.slice(0, namesShown).join(", ")}${more}`;
}

const namesShown = 5;

/** What brings volumes back that apps wait for: after a restore of the server there may be many. */
export function missingVolumes(reasons: readonly string[]): string[] {
  if (!reasons.some((reason) => reason.startsWith("VolumeMissing"))) return [];
  return [
    "volumes are missing, and their apps wait; those that have copies come back with: berth backup restore --all",
  ];
}

/** A line for each target that copies do not reach, or that has lost data: the alert comes only an hour later. */
export function targetWarnings(targets: readonly BackupTarget[]): string[] {
  return targets.flatMap((target) => {
    const { name, check_error: checked, failing_since: since } = target;
    const from = since === undefined ? "" : ` since ${timeText(since)}`;
    return [
      ...(checked === undefined
        ? []
        : [`the check of the backup target ${name} failed: berth backup repair ${name} --dry-run`]),
      ...(copiesFail(target) ? [`copies to the backup target ${name} fail${from}: berth backup target list`] : []),
    ];
  });
}

/** `4.2 s`, `3m20s`; nothing where it was not measured. */
export function spanText(seconds: number | undefined): string {
  if (seconds === undefined) return "";
  return seconds < 60 ? `${seconds} s` : formatDuration(Math.round(seconds) * 1000);
}

/** The last drill of an app in one line. */
export function drillText(drill: AppDrill, style: Pick<Style, "red" | "yellow">): string {
  const { result, why = "", ended_at: at, copy_at: copy, recovery_seconds: took, running_since: since } = drill;
  if (result === undefined || at === undefined) return since === undefined ? "not yet" : "under way";
  if (result === "failed") return style.red(`failed at ${timeText(at)}: ${printable(why)}`);
  if (result === "not_drilled") return style.yellow(`not drilled: ${printable(why)}`);
  const how = result === "proved" ? "proved by its own check" : "started; it has no check that could prove it";
  const age = copy === undefined ? "" : `, from a copy that was ${spanText(drill.recovery_point_seconds)} old`;
  return `${how}: ready in ${spanText(took)}${age}`;
}

/** One line; none before the first drill. */
function drillRows(drills: DrillSummary | undefined, style: Pick<Style, "red" | "yellow">): string[][] {
  if (drills === undefined) return [];
  const { good, failed, not_drilled: not, waiting } = drills;
  const ended = good + failed.length + not.length;
  if (ended === 0) return [];
  const figures = `the slowest in ${spanText(drills.recovery_seconds)}, from copies up to ${spanText(drills.recovery_point_seconds)} old`;
  const failures = failed.map(({ app, why }) => printable(`${app} (${why})`)).join(", ");
  const others = not.map(({ app }) => printable(app)).join(", ");
  const parts = [
    `${good} of ${ended + waiting} protected apps stood again from their copies${good === 0 ? "" : `, ${figures}`}`,
    ...(failed.length === 0 ? [] : [style.red(`failed: ${failures}`)]),
    ...(not.length === 0 ? [] : [style.yellow(`not drilled: ${others}; see: berth backup drills`)]),
  ];
  return [["drills", parts.join("; ")]];
}
