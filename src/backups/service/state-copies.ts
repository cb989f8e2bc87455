import { aborted, createWaker } from "../../base/words/abort.ts";
import { shownCause } from "../../base/wire/failure.ts";
import { createLimit } from "../../base/words/limit.ts";
import { keepWords } from "../core/restic-words.ts";
import { stateTag } from "../core/subject.ts";
import type { BackupOptions } from "./options.ts";
import { beginRun, recordRun, type StoredRun, type StoredTarget } from "./records.ts";
import type { Repository } from "./repository.ts";
import { isFirstPass, isDueAgain, nextCopyAt } from "./shown.ts";
import type { Twins } from "./twins.ts";

/** Copies of the server's own state: soon after it changed, and each `every` of the target at the latest. */
export function createStateCopies(
  parts: Pick<
    BackupOptions,
    "records" | "clock" | "log" | "limits" | "stage" | "onCopied" | "stateDigest" | "turn" | "reading"
  > & {
    repositoryOf(target: StoredTarget): Promise<Repository>;
    look: Twins["look"];
    inspect(name: string, repository: Repository, signal: AbortSignal): Promise<void>;
    /** Removes copies of volumes that are too old. */
    expireVolumes(target: StoredTarget, repository: Repository, signal: AbortSignal): Promise<void>;
  },
) {
  const { records, clock, log, limits } = parts;
  /** One at a time, beside those of volumes, which may take hours. */
  const copying = createLimit(1);
  /** Targets whose removal and check wait or are under way. */
  const tended = new Set<string>();
  let underWay: { name: string; end: AbortController } | undefined;
  const waker = createWaker();

  /** Undefined where it cannot be read now: then the times of the target decide. */
  function digest(): string | undefined {
    try {
      return parts.stateDigest();
    } catch (error) {
      log.debug("state not read for its digest", { error });
      return undefined;
    }
  }

  async function copyNow(name: string, stopping: AbortSignal): Promise<void> {
    const target = records.targets().find((one) => one.name === name);
    if (target === undefined) return;
    const end = new AbortController();
    const signal = AbortSignal.any([stopping, end.signal]);
    underWay = { name, end };
    // Its digest is read before the copy: what changes meanwhile is due again.
    const run: StoredRun = { ...beginRun(clock.now()), state: digest() };
    try {
      const repository = await parts.repositoryOf(target);
      await parts.look(target.name, repository);
      const staged = await parts.stage();
      try {
        Object.assign(run, await repository.backup({ folder: staged.folder, tags: [stateTag] }, signal));
      } finally {
        await staged.close();
      }
      await parts.onCopied(run.startedAt);
      log.info("state copied", { target: target.name, snapshot: run.snapshot, added: run.added });
      tend(target.name, repository, signal);
    } catch (error) {
      run.error = shownCause(error);
      log.warn("state not copied", { target: target.name, error });
    }
    underWay = undefined;
    run.endedAt = clock.now();
    // Where it could not be recorded, the next look tries again.
    await recordRun(records, { target: target.name, what: undefined, run }, { log, runsKept: limits.runsKept });
  }

  /**
   * Removal and checks lock the whole repository. They wait until no drill reads it, then until no volume is copied, while
   * copies of the state go on, and then hold all of those back. In this order, so that no copy waits for a drill.
   */
  function tend(name: string, repository: Repository, signal: AbortSignal): void {
    if (tended.has(name)) return;
    tended.add(name);
    const work = async () => {
      const target = records.targets().find((one) => one.name === name);
      if (target === undefined || signal.aborted) return;
      if (!target.appendOnly) await tidy(target, repository, signal);
      await parts.inspect(name, repository, signal);
    };
    parts
      .reading(() => parts.turn(() => copying(work)))
      .catch((error: unknown) => log.error("target not looked after", { target: name, error }))
      .finally(() => tended.delete(name));
  }

  /**
   * Takes snapshots out of the list each hour, and removes their data once a day, which reads and writes packs again. Where this
   * fails, the copy is good all the same.
   */
  async function tidy(target: StoredTarget, repository: Repository, signal: AbortSignal): Promise<void> {
    const now = clock.now();
    const isPrune = isDueAgain(target.prunedAt, now, limits.pruneEveryMs);
    if (!isPrune && !isDueAgain(target.forgottenAt, now, limits.forgetEveryMs)) return;
    try {
      // The copy may have taken long.
      const firstPasses = (await parts.look(target.name, repository)).filter(isFirstPass);
      if (firstPasses.length > 0)
        await repository.drop(
          firstPasses.map(({ id }) => id),
          signal,
        );
      if (isPrune) await parts.expireVolumes(target, repository, signal);
      await repository.forget([stateTag], [...keepWords(target.keep), ...recent], signal);
      if (isPrune) await repository.prune(signal);
      await records.changeTarget(target.name, (stands) => ({
        ...stands,
        forgottenAt: now,
        prunedAt: isPrune ? now : stands.prunedAt,
      }));
    } catch (error) {
      log.warn("old copies not removed", { target: target.name, error });
    }
  }

  const copyTo = (name: string, stopping: AbortSignal) => copying(() => copyNow(name, stopping));
  const isCurrent = ({ name }: StoredTarget) => {
    const [newest] = records.runs(name);
    return newest?.error === undefined && newest?.state !== undefined && newest.state === digest();
  };

  function nextAt(target: StoredTarget): number {
    const [newest] = records.runs(target.name);
    const { everyMs } = target;
    const usual = nextCopyAt(newest, { everyMs, now: clock.now(), retryMs: limits.retryMs });
    if (newest === undefined || newest.error !== undefined || isCurrent(target) || digest() === undefined) return usual;
    return Math.min(usual, newest.startedAt + limits.changedCopyMs);
  }

  return {
    /** Copies to what has the name when its turn comes. Never rejects: what went wrong is in the record. */
    copyTo,
    /** Ends a copy to this target that is under way. */
    end: (name: string) => void (underWay?.name === name && underWay.end.abort()),
    nextAt,
    /** Whether the newest copy there holds the state as it is here now. */
    isCurrent,
    /** Looks at once whether a copy is due. */
    wake: waker.wake,
    alone: copying,
    /** Copies what is due, until `signal` aborts. */
    async run(signal: AbortSignal) {
      while (!signal.aborted) {
        const sooner = waker.round(signal);
        for (const target of records.targets()) {
          if (!signal.aborted && nextAt(target) <= clock.now()) await copyTo(target.name, signal);
        }
        if (records.targets().length === 0) await aborted(sooner);
        else await clock.sleep(limits.stateLookMs, sooner);
      }
    },
  };
}

/** Copies of the last hour stay whatever `keep` says: one a minute at most. */
const recent = ["--keep-within", "1h"];
