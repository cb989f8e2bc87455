import { Failure, shownCause } from "../../base/wire/failure.ts";
import type { BackupSummary } from "../core/restic-words.ts";
import { firstPassTag, rootTag, subjectTags, volumeTag } from "../core/subject.ts";
import type { CopiedVolume, CopyPolicy, Platform } from "./platform.ts";
import type { Repository } from "./repository.ts";
import type { Still } from "./still.ts";

interface VolumeCopy {
  volume: CopiedVolume;
  policy: CopyPolicy;
  /** To each of them, one after the other. */
  targets: readonly { name: string; repository: Repository; signal: AbortSignal; onPaused: (ms: number) => void }[];
  signal: AbortSignal;
  /** One of them has its copy, or has not got it. */
  onDone(target: string, outcome: BackupSummary | { error: unknown }): Promise<void>;
}

/** Copies volumes, each as it was at one moment. */
export function createVolumeCopy(platform: Platform, still: Still): (copy: VolumeCopy) => Promise<void> {
  const rootOf = async (folder: string) => rootTag(await platform.rootOf(folder));

  /**
   * The first pass reads while the app writes, and brings what is long to the target. The second one reads only what has
   * changed since, while the app is still; its snapshot is the copy. So the first one may lack what it could not read.
   */
  async function twoPasses(
    { volume, policy }: VolumeCopy,
    { repository, signal, onPaused }: VolumeCopy["targets"][number],
  ): Promise<BackupSummary> {
    const folder = await platform.folderOf(volume.volume);
    const tags = subjectTags(volume.subject);
    const order = { folder, exclude: policy.exclude };
    const isWritten = (await platform.writers(volume.volume)).some(({ state }) => state === "running");
    const first = isWritten
      ? await repository.write({ ...order, tags: [firstPassTag, ...tags], mayLack: "any" }, signal)
      : undefined;
    const made: BackupSummary[] = [];
    try {
      await still.read(volume.volume, { signal, onPaused }, async (limit) => {
        made.push(
          await repository.write(
            { ...order, tags: [volumeTag, ...tags, await rootOf(folder)], parent: first?.snapshot },
            limit,
          ),
        );
      });
    } catch (error) {
      // It was read while something could write to it.
      for (const { snapshot } of made) await repository.drop([snapshot]).catch(() => undefined);
      throw error;
    } finally {
      if (first !== undefined) await repository.drop([first.snapshot]).catch(() => undefined);
    }
    const [written] = made;
    if (written === undefined) throw new Failure("internal", "the second pass over a volume said nothing");
    return repository.confirmed(written, signal);
  }

  async function onePass({ volume, policy }: VolumeCopy, { repository, signal }: VolumeCopy["targets"][number]) {
    const folder = await platform.folderOf(volume.volume);
    const tags = [volumeTag, ...subjectTags(volume.subject), await rootOf(folder)];
    return repository.backup({ folder, tags, exclude: policy.exclude, mayLack: "vanished" }, signal);
  }

  async function toEach(copy: VolumeCopy, work: (target: VolumeCopy["targets"][number]) => Promise<BackupSummary>) {
    for (const target of copy.targets) {
      const outcome = await work(target).catch((error: unknown) => ({ error }));
      await copy.onDone(target.name, outcome);
    }
  }

  return async (copy) => {
    const { policy, volume, signal } = copy;
    const hasCommands = policy.pre.length + policy.post.length > 0;
    const shell = hasCommands ? await platform.shellOf(volume) : undefined;
    if (shell === undefined) return toEach(copy, (target) => twoPasses(copy, target));
    const outcomes: [string, BackupSummary | { error: unknown }][] = [];
    let after: unknown;
    try {
      if (policy.pre.length > 0) await platform.run(shell, policy.pre, signal).catch(failedCommand("pre"));
      await toEach({ ...copy, onDone: async (...outcome) => void outcomes.push(outcome) }, (target) =>
        onePass(copy, target),
      );
    } catch (error) {
      for (const { name } of copy.targets) outcomes.push([name, { error }]);
    }
    if (policy.post.length > 0) {
      // Also when the server stops: what pre has closed is opened again.
      await platform.run(shell, policy.post, new AbortController().signal).catch((error: unknown) => {
        after = error;
      });
    }
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
