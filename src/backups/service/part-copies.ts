import { keepWords } from "../core/restic-words.ts";
import { partTags } from "../core/subject.ts";
import { createImageCopies } from "./image-copies.ts";
import type { BackupOptions } from "./options.ts";
import type { ServerPart } from "./platform.ts";
import { type BackupRecords, beginRun, recordedRun, runsId, type StoredRun, type StoredTarget } from "./records.ts";
import type { Repository } from "./repository.ts";
import { failingOf, nextCopyAt } from "./shown.ts";
import type { Twins } from "./twins.ts";

/** Copies of what the server holds beside its state: images, and each part of its root. */
export function createBesideCopies(
  given: Parameters<typeof createImageCopies>[0] & Parameters<typeof createPartCopies>[0],
) {
  const [images, parts] = [createImageCopies(given), createPartCopies(given)];
  return {
    bring: images.bring,
    async copyDue(signal: AbortSignal) {
      await images.copyDue(signal);
      await parts.copyDue(signal);
    },
    copiesOf: (targets: readonly StoredTarget[]) => [...images.copiesOf(targets), ...parts.copiesOf(targets)],
    failing: () => [...images.failing(), ...parts.failing()],
    async expire(...target: Parameters<typeof images.expire>) {
      await images.expire(...target);
      await parts.expire(...target);
    },
  };
}

/** Copies of parts of the root, each by its schedule. */
function createPartCopies({
  records,
  parts,
  turn,
  repositoryOf,
  look,
  clock,
  log,
  limits,
}: Pick<BackupOptions, "parts" | "turn" | "clock" | "log"> & {
  records: Pick<BackupRecords, "targets" | "runs" | "putRuns">;
  repositoryOf(target: StoredTarget): Promise<Repository>;
  look: Twins["look"];
  limits: Pick<BackupOptions["limits"], "retryMs" | "runsKept">;
}) {
  const runsOf = (target: string, { name }: ServerPart) => records.runs(runsId(target, name));
  /** What cannot be read is copied, which says why it cannot. */
  const digestOf = (part: ServerPart) => {
    try {
      return part.digest();
    } catch {
      return "unreadable";
    }
  };
  const takenBy = (target: StoredTarget) => parts.filter((part) => part.isTaken(target));

  function isDue(target: StoredTarget, part: ServerPart): boolean {
    const [newest] = runsOf(target.name, part);
    const when = { everyMs: part.everyMs(target), now: clock.now(), retryMs: limits.retryMs };
    if (nextCopyAt(newest, when) > clock.now()) return false;
    const there = digestOf(part);
    return there !== "" && (newest?.error !== undefined || newest?.state !== there);
  }

  /** Never rejects: what went wrong is in the record. */
  async function copyTo(name: string, part: ServerPart, signal: AbortSignal): Promise<void> {
    const target = records.targets().find((one) => one.name === name);
    if (target === undefined || !part.isTaken(target) || signal.aborted) return;
    // Its digest is read before the copy: what changes meanwhile is due again.
    const run: StoredRun = { ...beginRun(clock.now()), state: digestOf(part) };
    const how = { clock, log, runsKept: limits.runsKept, failed: "part of the server not copied" };
    await recordedRun(records, { target: name, what: part.name, run }, how, async () => {
      const repository = await repositoryOf(target);
      await look(name, repository);
      const { folder, close } = await part.stage();
      try {
        Object.assign(run, await repository.backup({ folder, tags: [partTags[part.name]] }, signal));
      } finally {
        await close();
      }
      log.info("part of the server copied", { target: name, what: part.name, added: run.added });
    });
  }

  return {
    /** Copies what is due; waits for its turn. */
    async copyDue(signal: AbortSignal): Promise<void> {
      for (const target of records.targets())
        for (const part of takenBy(target))
          if (!signal.aborted && isDue(target, part)) await turn(() => copyTo(target.name, part, signal));
    },
    /** Begins copies by hand, of what is there. */
    copiesOf: (targets: readonly StoredTarget[]) =>
      targets.flatMap((target) =>
        takenBy(target)
          .filter((part) => digestOf(part) !== "")
          .map((part) => ({
            target: target.name,
            what: part.name,
            start: (signal: AbortSignal) => turn(() => copyTo(target.name, part, signal)),
          })),
      ),
    failing: () =>
      records
        .targets()
        .flatMap((target) =>
          takenBy(target).flatMap((part) => failingOf(target.name, part.name, runsOf(target.name, part))),
        ),
    /** Removes copies that are too old. */
    async expire(target: StoredTarget, repository: Repository, signal: AbortSignal): Promise<void> {
      for (const part of parts)
        if (runsOf(target.name, part).length > 0)
          await repository.forget([partTags[part.name]], keepWords(part.keep(target)), signal);
    },
  };
}
