import { Failure, shownCause } from "../../base/wire/failure.ts";
import type { BackupSummary, Snapshot } from "../core/restic-words.ts";
import { dumpFile, firstPassTag, isDump, rootTag, subjectTags, volumeTag } from "../core/subject.ts";
import type { ContainerRef, CopiedVolume, CopyPolicy, Dumps, Platform } from "./platform.ts";
import type { Repository } from "./repository.ts";
import type { PauseRecords, Still } from "./still.ts";
import type { Aside } from "./turns.ts";

interface Target {
  name: string;
  repository: Repository;
  signal: AbortSignal;
  onPaused: (ms: number) => void;
  /** When the newest copy there was begun; undefined: there is none. */
  lastAt: number | undefined;
  /** What it holds. Fails `conflict` where another server acts. */
  listed(): Promise<Snapshot[]>;
}

interface VolumeCopy {
  volume: CopiedVolume;
  policy: CopyPolicy;
  /** To each of them, one after the other. */
  targets: readonly Target[];
  signal: AbortSignal;
  /** Other copies and restores may pass where this takes long. */
  aside: Aside;
  /** One of them has its copy, or has not got it. */
  onDone(target: string, outcome: BackupSummary | { error: unknown }): Promise<void>;
}

/** Copies volumes, each as it was at one moment. */
export function createVolumeCopy(
  platform: Platform,
  dumps: Dumps,
  still: Still,
  closed: Pick<PauseRecords, "changeClosed">,
  { postStopMs, littlePauseMs }: { postStopMs: number; littlePauseMs: number },
  now: () => number,
): (copy: VolumeCopy) => Promise<void> {
  const rootOf = async (folder: string) => rootTag(await platform.rootOf(folder));

  /** Targets and volumes whose app is paused only after a first pass: for good, or until one has gone well. */
  const firstPassed = new Map<string, "always" | "once">();

  /**
   * The first pass reads while the app writes, and brings what is long to the target. The second one reads only what has
   * changed since, while the app is still; its snapshot is the copy. So the first one may lack what it could not read. It is
   * left to the hourly removal: taking out each at once would take as long as a small copy. Where little has changed since the
   * last copy, the first pass would take longer than what it spares the second.
   */
  async function passes(copy: VolumeCopy, target: Target): Promise<BackupSummary> {
    const { volume, policy } = copy;
    const folder = await platform.folderOf(volume.volume);
    const isWritten = (await platform.writers(volume.volume)).some(({ state }) => state === "running");
    const isFilled = !(await platform.isEmpty(folder));
    const place = `${target.name} ${volume.volume}`;
    const begunAt = now();
    await platform.refresh(folder, { since: target.lastAt, isWritten }, target.signal);
    const since = firstPassed.has(place) ? undefined : target.lastAt;
    if (isWritten && isFilled && since !== undefined && (await platform.isNearlySame(folder, since))) {
      const only = await onlyPass(copy, target);
      if (typeof only !== "string") return confirmed(target, only);
      firstPassed.set(place, only);
    }
    const tags = [firstPassTag, ...subjectTags(volume.subject)];
    const order = { folder, exclude: policy.exclude, tags, mayLack: "any" } as const;
    const first = isWritten && isFilled ? await target.repository.write(order, target.signal) : undefined;
    if (first !== undefined) await platform.refresh(folder, { since: begunAt, isWritten: false }, target.signal);
    const last = await stillPass(copy, target, { isWritten, first });
    if (firstPassed.get(place) === "once") firstPassed.delete(place);
    return confirmed(target, last);
  }

  /** Where it fails, a first pass tells whether the target is away, and no pause counts that was for nothing. */
  async function onlyPass(copy: VolumeCopy, target: Target): Promise<BackupSummary | "always" | "once"> {
    let [pausedMs, isLate] = [0, false];
    const onPaused = (ms: number) => {
      [pausedMs, isLate] = [ms, ms >= littlePauseMs];
    };
    try {
      const made = await stillPass(copy, { ...target, onPaused }, { isWritten: true, maxMs: littlePauseMs });
      target.onPaused(pausedMs);
      return made;
    } catch (error) {
      if (target.signal.aborted) throw error;
      return isLate ? "always" : "once";
    }
  }

  /** The pass whose snapshot is the copy: nothing can write meanwhile. */
  async function stillPass(
    { volume, policy }: VolumeCopy,
    { repository, signal, onPaused }: Target,
    { isWritten, first, maxMs }: { isWritten: boolean; first?: BackupSummary | undefined; maxMs?: number },
  ): Promise<BackupSummary> {
    const folder = await platform.folderOf(volume.volume);
    const made: BackupSummary[] = [];
    try {
      await still.read(volume.volume, { signal, onPaused, maxMs }, async (limit) => {
        const tags = [volumeTag, ...subjectTags(volume.subject), await rootOf(folder)];
        const isEmpty = await platform.isEmpty(folder);
        const order = { folder, exclude: policy.exclude, tags, parent: first?.snapshot };
        made.push(await repository.write({ ...order, isEmpty, isAwaited: isWritten }, limit));
      });
    } catch (error) {
      // It was read while something could write to it.
      const left = [first, ...made].flatMap((one) => one?.snapshot ?? []);
      if (left.length > 0) await repository.drop(left).catch(() => undefined);
      throw error;
    }
    const [written] = made;
    if (written === undefined) throw new Failure("internal", "the last pass over a volume said nothing");
    return written;
  }

  async function onePass({ volume, policy }: VolumeCopy, target: Target) {
    const folder = await platform.folderOf(volume.volume);
    const tags = [volumeTag, ...subjectTags(volume.subject), await rootOf(folder)];
    const order = { folder, tags, exclude: policy.exclude, mayLack: "vanished" } as const;
    await platform.refresh(folder, { since: target.lastAt, isWritten: true }, target.signal);
    return confirmed(target, await target.repository.write(order, target.signal));
  }

  /** The list says both that the copy is there, and that no other server has taken the place of this one meanwhile. */
  async function confirmed({ repository, signal, listed }: Target, written: BackupSummary): Promise<BackupSummary> {
    try {
      return await repository.confirmed(written, signal, await listed());
    } catch (error) {
      if (error instanceof Failure && error.code === "conflict")
        await repository.drop([written.snapshot]).catch(() => undefined);
      throw error;
    }
  }

  async function toEach(copy: VolumeCopy, work: (target: Target) => Promise<BackupSummary>) {
    for (const target of copy.targets) {
      const outcome = await work(target).catch((error: unknown) => ({ error }));
      await copy.onDone(target.name, outcome);
    }
  }

  /** One that was started again meanwhile, such as by a restore, is no longer as `pre` has left it. */
  async function refuseRestarted(volume: CopiedVolume, shell: ContainerRef): Promise<void> {
    const now = await platform.shellOf(volume, shell);
    if (now?.startedAt === shell.startedAt && now !== undefined) return;
    throw new Failure(
      "conflict",
      "the container of the app was started again after pre of the field backup; try again",
    );
  }

  /** Runs `post`, also when the server stops, but then for a moment only. Answers with what went wrong. */
  async function open({ volume, policy, signal }: VolumeCopy, shell: ContainerRef): Promise<unknown> {
    const cut = new AbortController();
    let timer: Timer | undefined;
    const onStop = () => {
      timer = setTimeout(() => cut.abort(), postStopMs);
    };
    signal.addEventListener("abort", onStop, { once: true });
    if (signal.aborted) onStop();
    try {
      const failure = await platform.run(shell, policy.post, cut.signal).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure === undefined || !cut.signal.aborted) await closed.changeClosed(volume, undefined);
      return cut.signal.aborted && failure !== undefined
        ? new Failure("conflict", "the server stopped before it had ended, and its next start runs it", {
            cause: failure,
          })
        : failure;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onStop);
    }
  }

  /** The plugin of a block prints its data. On the disk first: what a failing command has printed does not count. */
  async function dumped(copy: VolumeCopy): Promise<void> {
    const { subject } = copy.volume;
    const id = `dump-${subject.kind}-${subject.scope}-${subject.name}`;
    const folder = await dumps.make(id);
    try {
      await copy.aside(() => dumps.dump(subject, `${folder}/${dumpFile}`, copy.signal));
      const tags = [volumeTag, ...subjectTags(subject)];
      await toEach(copy, async (target) =>
        confirmed(target, await target.repository.write({ folder, tags }, target.signal)),
      );
    } finally {
      await dumps.remove(id);
    }
  }

  return async (copy) => {
    const { policy, volume, signal } = copy;
    if (isDump(volume.subject)) return dumped(copy);
    const hasCommands = policy.pre.length + policy.post.length > 0;
    const shell = hasCommands ? await platform.shellOf(volume) : undefined;
    if (shell === undefined) return toEach(copy, (target) => passes(copy, target));
    const outcomes: [string, BackupSummary | { error: unknown }][] = [];
    // Stored first: what a server that is killed or stopped leaves closed, the next one opens.
    if (policy.post.length > 0) await closed.changeClosed(volume, policy.post);
    try {
      if (policy.pre.length > 0)
        await copy.aside(() => platform.run(shell, policy.pre, signal).catch(failedCommand("pre")));
      if (policy.pre.length > 0) await refuseRestarted(volume, shell);
      await toEach({ ...copy, onDone: async (...outcome) => void outcomes.push(outcome) }, (target) =>
        onePass(copy, target),
      );
    } catch (error) {
      for (const { name } of copy.targets) outcomes.push([name, { error }]);
    }
    const after = policy.post.length === 0 ? undefined : await copy.aside(() => open(copy, shell));
    for (const [name, outcome] of outcomes) {
      const failed =
        after === undefined || "error" in outcome ? outcome : { error: afterFailure(outcome.snapshot, after) };
      await copy.onDone(name, failed);
    }
  };
}

const failedCommand = (field: string) => (error: unknown) => {
  const why = shownCause(error);
  throw new Failure("conflict", `${field} of the field backup failed: ${why}`, { cause: error });
};

/** The copy is there and good, but the app may still be closed. */
function afterFailure(snapshot: string, cause: unknown): Failure {
  const why = shownCause(cause);
  return new Failure(
    "conflict",
    `the copy ${snapshot.slice(0, 8)} was made, but post of the field backup failed: ${why}`,
  );
}
