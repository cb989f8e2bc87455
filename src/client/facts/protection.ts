import type { Manifest } from "../../orchestration/api/manifest.ts";
import { podOf } from "../../orchestration/core/spec/decode.ts";
import { isPodKind } from "./look.ts";

export interface Protection {
  protected: number;
  not: string[];
  /** Places that copies go to. */
  targets: number | undefined;
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

/** Counts the apps with volumes that have the field `backup`, and names the others. */
export function protectionIn(apps: readonly Manifest[], targets: number | undefined): Protection {
  const not = apps.filter((app) => protectionOf(app) === "none");
  const withVolumes = apps.filter((app) => protectionOf(app) !== undefined);
  const names = not.map(({ scope = "", name }) => `${scope}/${name}`);
  return { protected: withVolumes.length - not.length, not: names, targets };
}

/** One line, and no fault: what is not protected may be worth nothing. */
export function protectionRows({ protected: count, not, targets }: Protection): string[][] {
  if (count + not.length === 0) return [];
  const shown = not.slice(0, unprotectedShown).join(", ");
  const more = not.length > unprotectedShown ? ` and ${not.length - unprotectedShown} more` : "";
  if (count > 0 && targets === 0)
    return [["backups", "nothing is copied: there is no target; see: berth backup target add --help"]];
  const of = `${count} of ${count + not.length} apps with volumes are copied`;
  return [["backups", not.length === 0 ? of : `${of}; not protected: ${shown}${more}`]];
}

const unprotectedShown = 5;
