import type { AppBackup } from "../../backups/api/backups.ts";
import type { AppDrill } from "../../backups/api/drills.ts";
import type { Manifest } from "../../orchestration/api/manifest.ts";
import { podOf } from "../../orchestration/core/spec/decode.ts";
import { isPodKind } from "./look.ts";

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

/** Whether the volumes of an app are copied outside of the machine, by its manifest; undefined for an app without volumes. */
export function protectionOf({
  kind,
  spec,
}: Pick<Manifest, "kind" | "spec">): { every: string; target: string } | "none" | undefined {
  const pod = isPodKind(kind) ? podOf({ kind, spec }) : undefined;
  if (pod === undefined) return undefined;
  const hasVolume = pod.volumes.some(({ read }) => read.ok && read.value.type === "volume");
  if (pod.volumeClaims.length === 0 && !hasVolume) return undefined;
  const { backup } = pod;
  return backup === undefined ? "none" : { every: backup.everyText, target: backup.target ?? "every target" };
}

/** What changes it. */
export const protectText = "add `backup: {}` to its manifest; see: berth backup target add --help";

/** Counts the apps with volumes that have the field `backup`, and names the others. `manifests`: all that are stored. */
export function protectionIn(
  manifests: readonly Manifest[],
  targets: number | undefined,
  apps?: readonly CopiedApp[],
): Protection {
  const withVolumes = manifests.filter((app) => protectionOf(app) !== undefined);
  const not = withVolumes.filter((app) => protectionOf(app) === "none");
  const nameOf = ({ scope = "", name }: Pick<Manifest, "scope" | "name">) => `${scope}/${name}`;
  // What `backups` of a block of a database becomes.
  const scheduled = new Set(manifests.flatMap((one) => (one.kind === "cronjob" ? [nameOf(one)] : [])));
  const isLocal = (app: Manifest) => scheduled.has(`${nameOf(app)}.backup`);
  return {
    protected: withVolumes.length - not.length,
    not: not.filter((app) => !isLocal(app)).map(nameOf),
    local: not.filter(isLocal).map(nameOf),
    targets,
    drills: apps && drillsIn(apps),
  };
}

/** What the last drills of all protected apps have shown. */
export interface DrillSummary {
  /** How many stood again from their copies; of those the age of the oldest copy, and the longest time. */
  good: number;
  recovery_point_seconds: number | undefined;
  recovery_seconds: number | undefined;
  failed: { app: string; why: string }[];
  not_drilled: { app: string; why: string }[];
  /** Not drilled so far. */
  waiting: number;
}

export type CopiedApp = Pick<AppBackup, "every" | "drill"> & { scope: string; name: string };

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

/** One line, and no fault: what is not protected may be worth nothing. */
export function protectionRows({ protected: count, not, local, targets }: Protection): string[][] {
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
