import type { BackupTarget, VolumeCopies } from "../../backups/api/backups.ts";
import { type Protection, protectionOf, protectionWords } from "../../backups/api/protection.ts";
import type { PlannedRestore, Restore } from "../../backups/api/restore.ts";
import type { App, AppProblem } from "../../observability/api/app-model.ts";
import { drillProblems } from "./drills.ts";
import { bytesText, many } from "./figures.ts";
import type { Tone } from "./states.ts";

type Backup = NonNullable<App["backup"]>;

export const protectionTones: Record<Protection, Tone> = {
  failing: "bad",
  "no target": "warn",
  "not protected": "warn",
  "no copy yet": "work",
  protected: "good",
};

/** What is newest of all volumes together: every volume has a copy of this time or later. */
export function copiedAt({ volumes }: Pick<Backup, "volumes">): VolumeCopies | undefined {
  const newest = volumes.map(({ copies }) => copies.toSorted(byAge)[0]);
  const oldest = newest.toSorted(byAge).at(-1);
  return oldest?.at === undefined ? undefined : oldest;
}

/** The newest first, and what has no copy last. */
const byAge = (a: VolumeCopies | undefined, b: VolumeCopies | undefined) => (b?.at ?? "").localeCompare(a?.at ?? "");

/** The newest copies of one app at one target: of all its volumes together. */
export interface AppAtTarget {
  app: App;
  /** Undefined for an app that is copied nowhere. */
  target: string | undefined;
  state: Protection;
  at: string | undefined;
  bytes: number | undefined;
}

/** A row for each app with volumes and each target that it has, what is wrong first. */
export function copyRows(apps: readonly App[]): AppAtTarget[] {
  return apps
    .flatMap((app) => (app.backup === undefined ? [] : rowsOf(app, app.backup)))
    .sort((a, b) => protectionWords.indexOf(a.state) - protectionWords.indexOf(b.state));
}

function rowsOf(app: App, { every, volumes }: Backup): AppAtTarget[] {
  const targets = [...new Set(volumes.flatMap(({ copies }) => copies.map(({ target }) => target)))].sort();
  if (targets.length === 0) {
    return [{ app, target: undefined, state: protectionOf({ every, volumes }), at: undefined, bytes: undefined }];
  }
  return targets.map((target) => {
    const there = volumes.map(({ volume, copies }) => ({
      ...{ volume, copies: copies.filter((one) => one.target === target) },
    }));
    const sizes = there.flatMap(({ copies }) => copies.flatMap(({ bytes }) => bytes ?? []));
    const bytes = sizes.length === 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0);
    const at = copiedAt({ volumes: there })?.at;
    return { app, target, state: protectionOf({ every, volumes: there }), at, bytes };
  });
}

/** Apps with volumes that no copy is made of, and how many there are. */
export function unprotected(apps: readonly App[]): { names: string[]; withVolumes: number } {
  const found = apps.filter(({ backup }) => backup !== undefined);
  const not = found.filter(({ backup }) => backup !== undefined && protectionOf(backup) === "not protected");
  return { names: not.map(nameOf).sort(), withVolumes: found.length };
}

const nameOf = ({ scope, name }: { scope: string; name: string }) => `${scope}/${name}`;

/** What is wrong with copies, as lists of problems show it: of the targets first. */
export function copyProblems(apps: readonly App[], targets: readonly BackupTarget[]): AppProblem[] {
  return [...targets.flatMap(targetProblems), ...apps.flatMap(volumeProblems), ...drillProblems(apps)];
}

function targetProblems(target: BackupTarget): AppProblem[] {
  const { name, last_error: error, failing_since: since, check_error: fault, held } = target;
  const { size_bytes: size = 0, max_size_bytes: max } = target;
  const problem = (type: string, title: string, cause: string, command: string): AppProblem => {
    return { id: `${type}/${name}`, severity: "critical", type, title, cause, command };
  };
  const test = `berth backup target test ${name}`;
  return [
    ...(held === undefined ? [] : [problem("held", `No copies are made to ${name}`, held, "berth backup target list")]),
    ...(error === undefined
      ? []
      : [{ ...problem("state", `The state of the server is not copied to ${name}`, error, test), since }]),
    ...(fault === undefined
      ? []
      : [problem("check", `The data at ${name} is damaged, or could not be checked`, fault, "restic check")]),
    ...(max === undefined || size <= max
      ? []
      : [
          problem(
            "size",
            `${name} is larger than its limit`,
            `${bytesText(size)} of ${bytesText(max)}: keep fewer copies, or raise the limit`,
            `berth backup target add ${name} --help`,
          ),
        ]),
  ];
}

function volumeProblems(app: App): AppProblem[] {
  const { kind, scope, name, backup } = app;
  const who = nameOf(app);
  return (backup?.volumes ?? []).flatMap(({ volume, copies }) =>
    copies.flatMap(({ target, error, at, failing_since: since }): AppProblem[] => {
      if (error === undefined) return [];
      const title = `${volume} of ${who} is not copied to ${target}`;
      const cause = at === undefined ? `${error}. There is no copy of it at ${target}` : error;
      const command = `berth backup now ${who}`;
      const id = `copy/${who}/${volume}/${target}`;
      return [{ id, severity: "critical", type: "copy", title, cause, command, since, app: { kind, scope, name } }];
    }),
  );
}

export const restoreTones: Record<Restore["state"], Tone> = {
  waiting: "work",
  fetching: "work",
  placing: "work",
  undoing: "work",
  done: "good",
  undone: "idle",
  failed: "bad",
};

/** What a restore would do to one volume, as a sentence. */
export function placeText({ way, volume = "", mount = "", replaces, path }: PlannedRestore): string {
  if (way === "beside") return `goes into the new volume ${volume}, which manifests mount as ${mount}`;
  if (path !== undefined && replaces) return "takes the place of what is there now; the rest of the volume stays";
  return replaces ? "takes the place of the data of now" : `comes back as ${volume}, which is missing`;
}

/** What happens beside that, in order. */
export function restoreEffects(planned: readonly PlannedRestore[]): { text: string; ends?: boolean }[] {
  const size = bytesText(planned.reduce((sum, { bytes }) => sum + bytes, 0));
  const fetched = `${size} of ${many(planned.length, "volume")} are fetched and compared with the target`;
  if (!planned.some(({ replaces }) => replaces)) {
    const isWaitedFor = planned.some(({ way }) => way === "missing");
    const after = isWaitedFor ? [{ text: "Apps that wait for them start by themselves" }] : [];
    return [{ text: fetched }, { text: "Nothing that is there is changed" }, ...after];
  }
  return [
    { text: `${fetched}, while the app runs` },
    { text: "Then the app stops for a moment, the data is exchanged in one step, and the app starts" },
    { text: "What was written after the copy is not in it", ends: true },
    { text: "What is there now is kept for some days: Undo brings it back" },
  ];
}
