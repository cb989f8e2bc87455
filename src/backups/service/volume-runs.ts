import type { DataOf } from "../../base/wire/endpoint.ts";
import { Failure, shownCause } from "../../base/wire/failure.ts";
import type { Clock } from "../../base/words/clock.ts";
import type { Limit } from "../../base/words/limit.ts";
import type { Log } from "../../base/words/log.ts";
import type { listBackupApps } from "../api/backups.ts";
import { type BackupSummary, keepWords, type Snapshot } from "../core/restic-words.ts";
import { addTarget, notCopied } from "../core/target.ts";
import { subjectTags, volumeTag, whatOf } from "../core/subject.ts";
import { createVolumeCopy } from "./copy-volume.ts";
import type { BackupOptions } from "./options.ts";
import type { AppVolumes, CopiedVolume, CopyPolicy, Dumps, Platform } from "./platform.ts";
import { beginRun, type BackupRecords, runsId, type StoredRun, type StoredTarget, recordRun } from "./records.ts";
import type { Repository } from "./repository.ts";
import { failingOf, nextCopyAt, shownApps } from "./shown.ts";
import type { ClosedApp, PauseRecords, Still } from "./still.ts";
import { type Aside, createTurns } from "./turns.ts";

/** Copies of the volumes of protected apps: which are due, and how they went. */
export interface VolumeRuns {
  /** Makes the copies that are due, until `signal` aborts. */
  copyDue(signal: AbortSignal): Promise<void>;
  /**
   * Makes the copies of an app, or of every protected one, to those of `targets` that it has. Fails `not_found` for an app
   * that is not stored, `conflict` for one without `backup` or without a target. An app that has not started yet has none.
   */
  copiesOf(
    app: string | undefined,
    targets: readonly StoredTarget[],
  ): { target: string; what: string; start(signal: AbortSignal): Promise<void> }[];
  failing(): { target: string; what: string; sinceAt: number; error: string }[];
  /** Runs `post` for apps that a server which was killed or stopped has left closed; their copies wait meanwhile. */
  reopen(signal: AbortSignal): void;
  /** Once no copy is under way. */
  settled(): Promise<void>;
  /** Every app with volumes, protected or not. */
  apps(): DataOf<typeof listBackupApps>["apps"];
  /** Removes copies that are too old by the word of their app. Those of apps that are gone stay. */
  expire(target: StoredTarget, repository: Repository, signal: AbortSignal): Promise<void>;
}

interface Wanted {
  app: AppVolumes;
  policy: CopyPolicy;
  volume: CopiedVolume;
}

export function createVolumeRuns(options: {
  records: BackupRecords & PauseRecords;
  platform: Platform;
  dumps: Dumps;
  still: Still;
  /** One copy at a time, those of the state too. */
  copying: Limit;
  repositoryOf(target: StoredTarget): Promise<Repository>;
  /** Fails where another server has taken the place of this one at the target. */
  look(target: string, repository: Repository): Promise<Snapshot[]>;
  /** Whether it was looked a moment ago. */
  looked(target: string): boolean;
  /** Whether nothing of earlier copies there counts. */
  isFresh(target: string): boolean;
  clock: Clock;
  log: Log;
  limits: Pick<
    BackupOptions["limits"],
    "retryMs" | "runsKept" | "oldRunsMs" | "lookMs" | "commandAloneMs" | "postStopMs" | "littlePauseMs"
  >;
}): VolumeRuns {
  const { records, platform, copying, clock, log, limits } = options;
  const copy = createVolumeCopy(platform, options.dumps, options.still, records, limits, clock.now);
  const { inLine, isInLine, inTurn, settled } = createTurns(copying, { log, commandAloneMs: limits.commandAloneMs });

  async function reopenOne({ volume, post }: ClosedApp, signal: AbortSignal): Promise<void> {
    const what = whatOf(volume.subject);
    const until = clock.now() + limits.retryMs;
    while (!signal.aborted) {
      const shell = await platform.shellOf(volume).catch(() => undefined);
      if (shell === undefined && clock.now() < until) {
        await clock.sleep(limits.lookMs, signal);
        continue;
      }
      const failure =
        shell === undefined
          ? new Failure("conflict", "no container of the app runs")
          : await platform.run(shell, post, signal).catch((error: unknown) => error);
      if (signal.aborted) return;
      if (failure !== undefined) log.error("post of a copy before the start failed; see to the app", { what, failure });
      else log.info("post of a copy before the start has run", { what });
      return records.changeClosed(volume, undefined);
    }
  }

  const wanted = (): Wanted[] =>
    platform.apps().flatMap((app) => {
      const { policy } = app;
      return policy === undefined ? [] : app.volumes.map((volume) => ({ app, policy, volume }));
    });
  const targetsOf = ({ policy }: Pick<Wanted, "policy">, all: readonly StoredTarget[]) =>
    all.filter(({ name }) => policy.target === undefined || policy.target === name);
  const runsOf = (target: string, { subject }: CopiedVolume) => records.runs(runsId(target, whatOf(subject)));

  function isDue(target: string, { policy: { everyMs }, volume }: Wanted): boolean {
    const [newest] = runsOf(target, volume);
    // What failed although the app was paused would pause it again and again.
    const retryMs = newest?.pausedMs === undefined ? limits.retryMs : everyMs;
    return nextCopyAt(newest, { everyMs, now: clock.now(), retryMs }) <= clock.now();
  }

  /** Never rejects: what went wrong is in the records. */
  async function copyNow(
    { volume, policy }: Wanted,
    to: readonly Pick<StoredTarget, "name">[],
    { signal: stopping, aside }: { signal: AbortSignal; aside: Aside },
  ): Promise<void> {
    const what = whatOf(volume.subject);
    const open = new Map<string, StoredRun>();
    const begin = (name: string) => {
      const run = beginRun(clock.now());
      open.set(name, run);
      return run;
    };
    const onDone = async (name: string, outcome: BackupSummary | { error: unknown }) => {
      const run = open.get(name) ?? begin(name);
      open.delete(name);
      if ("error" in outcome) {
        const { error } = outcome;
        run.error = shownCause(error);
        log.warn("volume not copied", { what, target: name, error });
      } else {
        Object.assign(run, outcome);
        log.info("volume copied", { what, target: name, snapshot: run.snapshot, added: run.added });
      }
      run.endedAt = clock.now();
      await recordRun(records, { target: name, what, run }, { log, runsKept: limits.runsKept });
    };
    const targets: Parameters<typeof copy>[0]["targets"][number][] = [];
    for (const { name } of to) {
      const target = records.targets().find((one) => one.name === name);
      if (target === undefined) continue;
      const run = begin(target.name);
      try {
        const repository = await options.repositoryOf(target);
        if (!options.looked(name)) await options.look(name, repository);
        const onPaused = (ms: number) => {
          run.pausedMs = ms;
        };
        const last = options.isFresh(name) ? undefined : runsOf(name, volume).find(({ error }) => error === undefined);
        const listed = () => options.look(name, repository);
        targets.push({ name, repository, signal: stopping, onPaused, lastAt: last?.startedAt, listed });
      } catch (error) {
        await onDone(target.name, { error });
      }
    }
    try {
      if (targets.length > 0) await copy({ volume, policy, targets, signal: stopping, aside, onDone });
    } catch (error) {
      for (const name of [...open.keys()]) await onDone(name, { error });
    }
  }

  return {
    apps: () => shownApps(platform.apps(), { targets: records.targets(), targetsOf, runsOf }),
    async copyDue(signal) {
      const dueOf = (one: Wanted) => targetsOf(one, records.targets()).filter(({ name }) => isDue(name, one));
      for (const one of wanted()) {
        const { subject } = one.volume;
        if (signal.aborted || isInLine(subject) || dueOf(one).length === 0) continue;
        // When its turn comes, somebody may have asked for it already. One that steps aside is not waited for.
        await new Promise<void>((pass) => {
          const work = (aside: Aside) => copyNow(one, dueOf(one), { signal, aside });
          void inLine(subject, () => inTurn(work, pass).finally(pass));
        });
      }
    },
    copiesOf(app, targets) {
      const chosen =
        app === undefined ? wanted() : wanted().filter(({ app: { scope, name } }) => `${scope}/${name}` === app);
      if (app !== undefined) refuseUncopied(app, platform.apps());
      const copies = chosen.flatMap((one) =>
        targetsOf(one, targets).map(({ name: target }) => ({
          target,
          what: whatOf(one.volume.subject),
          start: (signal: AbortSignal) =>
            inLine(one.volume.subject, () =>
              inTurn(
                (aside) => copyNow(one, [{ name: target }], { signal, aside }),
                () => undefined,
              ),
            ),
        })),
      );
      if (app === undefined || chosen.length === 0 || copies.length > 0) return copies;
      const target = chosen[0]?.policy.target;
      const why = target === undefined ? "there is no target" : `its target "${target}" is not there`;
      throw new Failure("conflict", `${app} is not copied: ${why}; ${addTarget}`);
    },
    failing: () =>
      wanted().flatMap((one) => {
        const what = whatOf(one.volume.subject);
        const { target } = one.policy;
        const targets = targetsOf(one, records.targets());
        if (target !== undefined && targets.length === 0) {
          const error = `there is no target "${target}", which the field backup of ${one.app.scope}/${one.app.name} names`;
          return [{ target, what, sinceAt: one.app.updatedAt, error }];
        }
        return targets.flatMap(({ name }) =>
          failingOf(name, what, runsOf(name, one.volume)).map((found) => ({ ...found, what })),
        );
      }),
    reopen(signal) {
      for (const one of records.closed()) void inLine(one.volume.subject, () => reopenOne(one, signal));
    },
    settled,
    async expire(target, repository, signal) {
      for (const { volume, policy } of wanted()) {
        const tags = [volumeTag, ...subjectTags(volume.subject)];
        await repository.forget(tags, keepWords(policy.keep ?? target.keep), signal);
      }
      const known = new Set(wanted().map(({ volume }) => whatOf(volume.subject)));
      for (const { what, runs } of records.volumeRuns(target.name)) {
        const isOld = (runs[0]?.endedAt ?? 0) < clock.now() - limits.oldRunsMs;
        if (isOld && !known.has(what)) await records.putRuns(target.name, [], what);
      }
    },
  };
}

function refuseUncopied(app: string, apps: readonly AppVolumes[]): void {
  const found = apps.filter(({ scope, name }) => `${scope}/${name}` === app);
  if (found.length === 0)
    throw new Failure("not_found", `no app "${app}" with volumes; berth get all shows what there is`);
  if (found.every(({ policy }) => policy === undefined)) throw notCopied(app);
}
