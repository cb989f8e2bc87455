import { formatDuration, parseDuration } from "../../../base/pure/duration.ts";
import { parseKeep } from "../../../base/pure/keep.ts";
import type { Backup } from "../../api/kinds/backup.ts";
import type { PodFields } from "../../api/kinds/pod.ts";
import type { VolumeClaim } from "../../api/kinds/volume-claim.ts";
import { scopeOk } from "../identity.ts";
import { parseVolume } from "../volumes.ts";
import { commandRules } from "./container.ts";
import { durationRule } from "./duration.ts";
import { eachEntry, type RuleContext } from "./rule.ts";

/** Copies of volumes outside of the machine. */
export function backupRules(
  {
    backup,
    volumes = [],
    volume_claims: claims = [],
  }: Pick<PodFields, "backup" | "volumes"> & { volume_claims?: readonly VolumeClaim[] | undefined },
  { report, limits: { backup: limits } }: RuleContext,
): void {
  if (backup === undefined) return;
  const path = "spec.backup";
  const known = [...claims.map(({ name }) => name), ...volumes.flatMap(volumeName)];
  if (known.length === 0) {
    report(
      path,
      "has nothing to copy: the app has no volume and no volume claim; folders of the machine are not copied",
    );
  }
  for (const field of ["volumes", "pre", "post", "exclude"] as const) {
    const { length } = backup[field] ?? [];
    if (length > limits.wordsMax)
      report(`${path}.${field}`, `has ${length} entries; at most ${limits.wordsMax} are allowed`);
  }
  eachEntry(backup.volumes ?? [], `${path}.volumes`, (name, at) => {
    if (!known.includes(name))
      report(at, `"${name}" is not a volume or claim of this app; write one of ${known.join(", ")}`);
  });
  if (backup.volumes?.length === 0) report(`${path}.volumes`, "must not be empty; leave it out for all volumes");
  timeRules(backup, path, { report, limits });
  for (const field of ["pre", "post"] as const) {
    if (backup[field]?.length === 0) report(`${path}.${field}`, "must not be empty; leave it out for no command");
    commandRules(backup[field] ?? [], `${path}.${field}`, report);
  }
  eachEntry(backup.exclude ?? [], `${path}.exclude`, (pattern, at) => {
    const { length } = pattern;
    if (length > limits.patternCharactersMax)
      return report(at, `has ${length} characters; at most ${limits.patternCharactersMax} are allowed`);
    const fault = excludeFault(pattern);
    if (fault !== undefined) report(at, `"${pattern}" ${fault}`);
  });
}

function volumeName(text: string): string[] {
  const mount = parseVolume(text);
  return mount.ok && mount.value.type === "volume" ? [mount.value.source] : [];
}

function timeRules(
  { every, keep, target }: Backup,
  path: string,
  { report, limits }: Pick<RuleContext, "report"> & { limits: RuleContext["limits"]["backup"] },
): void {
  durationRule(every, `${path}.every`, { report });
  if (every !== undefined && (parseDuration(every) ?? limits.everyMinMs) < limits.everyMinMs) {
    report(`${path}.every`, `"${every}" is too often; write ${formatDuration(limits.everyMinMs)} or more`);
  }
  const kept = keep === undefined ? undefined : parseKeep(keep);
  if (kept?.ok === false) report(`${path}.keep`, kept.error);
  if (target !== undefined && !scopeOk(target)) {
    report(`${path}.target`, `"${target}" is not the name of a target; berth backup target list shows them`);
  }
}

/** One part of a pattern as restic takes it: `[` opens a list of letters and ranges, and `\` stands before a letter. */
const partForm = /^(?:[^\\[]|\\.|\[(?!\^\])\^?(?:(?:[^\\\]-]|\\.)(?:-(?:[^\\\]-]|\\.))?)+\])*$/su;

/** A pattern is put behind the folder of the volume, so it must not lead out of it. */
function excludeFault(pattern: string): string | undefined {
  if (pattern === "" || pattern.startsWith("/") || pattern.startsWith("!"))
    return 'is not a path in the volume; write it like "cache/**" or "**/*.tmp"';
  if (/[\0-\x1f\x7f]/.test(pattern)) return "has a control character";
  if (pattern.split("/").some((part) => part === "." || part === "..")) return 'has a part "." or ".."; leave it out';
  if (!pattern.split("/").every((part) => partForm.test(part)))
    return 'is not a pattern: close each "[", and write "\\[" for the bracket itself';
  return ["*", "**", "**/*"].includes(pattern) ? "leaves out everything; leave out backup instead" : undefined;
}
