import { sha256Hex } from "../../base/pure/digest.ts";
import { Failure } from "../../base/wire/failure.ts";
import { createLimit } from "../../base/words/limit.ts";
import { imageOf, imagesWhat, imageTags } from "../core/subject.ts";
import type { BackupOptions } from "./options.ts";
import { type BackupRecords, beginRun, recordedRun, runsId, type StoredRun, type StoredTarget } from "./records.ts";
import type { Repository } from "./repository.ts";
import { failingOf, newestFirst, nextCopyAt } from "./shown.ts";
import type { Twins } from "./twins.ts";

/**
 * Copies of images at the targets that take them: each once, since an image never changes. They come back when a replica
 * needs one that the engine does not have.
 */
export function createImageCopies({
  records,
  images: room,
  turn,
  repositoryOf,
  look,
  clock,
  log,
  limits,
  closing,
}: Pick<BackupOptions, "images" | "turn" | "clock" | "log"> & {
  records: Pick<BackupRecords, "targets" | "runs" | "putRuns">;
  repositoryOf(target: StoredTarget): Promise<Repository>;
  look: Twins["look"];
  limits: Pick<BackupOptions["limits"], "retryMs" | "runsKept" | "imagesKeptMs" | "restoreSpareBytes">;
  closing: AbortSignal;
}) {
  const bringing = createLimit(1);
  /** When no target had the image, or none answered. */
  const missedAt = new Map<string, number>();
  const runsOf = (target: string) => records.runs(runsId(target, imagesWhat));
  const digest = () => sha256Hex(room.wanted().toSorted().join(" "));
  const taking = () => records.targets().filter(({ images }) => images === true);

  function isDue({ name }: StoredTarget): boolean {
    const [newest] = runsOf(name);
    const isCurrent = newest?.error === undefined && newest?.state === digest();
    return !isCurrent && nextCopyAt(newest, { everyMs: 0, now: clock.now(), retryMs: limits.retryMs }) <= clock.now();
  }

  async function staged<T>(bytes: number, work: (folder: string) => Promise<T>): Promise<T> {
    const { folder, freeBytes, close } = await room.stage();
    try {
      if (bytes + limits.restoreSpareBytes > freeBytes)
        throw new Failure("storage_full", "the disk is too full for an image on its way; free some space");
      return await work(folder);
    } finally {
      await close();
    }
  }

  /** Never rejects: what went wrong is in the record. */
  async function copyTo(name: string, signal: AbortSignal): Promise<void> {
    const target = taking().find((one) => one.name === name);
    if (target === undefined) return;
    const run: StoredRun = { ...beginRun(clock.now()), bytes: 0, added: 0, state: digest() };
    const how = { clock, log, runsKept: limits.runsKept, failed: "images not copied" };
    await recordedRun(records, { target: name, what: imagesWhat, run }, how, async () => {
      const repository = await repositoryOf(target);
      const there = new Set(
        (await look(name, repository)).flatMap(({ tags, isDamaged }) => (isDamaged ? [] : [imageOf(tags)])),
      );
      for (const id of room.wanted().filter((wanted) => !there.has(wanted))) {
        signal.throwIfAborted();
        const size = await room.sizeOf(id);
        if (size === undefined) continue;
        const made = await staged(size, async (folder) => {
          await room.save(id, folder);
          return repository.backup({ folder, tags: imageTags(id) }, signal);
        });
        run.snapshot = made.snapshot;
        run.bytes = (run.bytes ?? 0) + made.bytes;
        run.added = (run.added ?? 0) + made.added;
        log.info("image copied", { target: name, image: id, added: made.added });
      }
    });
  }

  async function bringFrom(target: StoredTarget, id: string): Promise<boolean> {
    const repository = await repositoryOf(target);
    const [copy] = newestFirst(await repository.snapshots(closing)).filter(
      ({ tags, isDamaged }) => imageOf(tags) === id && !isDamaged,
    );
    if (copy === undefined) return false;
    await staged(await repository.size(copy.id, undefined), async (folder) => {
      await repository.restore(copy.id, folder, closing);
      await room.load(folder);
    });
    log.info("image brought back", { target: target.name, image: id });
    return (await room.sizeOf(id)) !== undefined;
  }

  async function bring(id: string): Promise<boolean> {
    if ((await room.sizeOf(id)) !== undefined) return true;
    if ((missedAt.get(id) ?? Number.NEGATIVE_INFINITY) > clock.steady() - limits.retryMs) return false;
    for (const target of taking()) {
      const found = await bringFrom(target, id).catch((error: unknown) => {
        log.warn("image not brought back", { target: target.name, image: id, error });
        return false;
      });
      if (found) return true;
    }
    missedAt.set(id, clock.steady());
    return false;
  }

  return {
    /** Copies what is due; waits for its turn. */
    async copyDue(signal: AbortSignal): Promise<void> {
      for (const target of taking())
        if (!signal.aborted && isDue(target)) await turn(() => copyTo(target.name, signal));
    },
    /** Begins copies by hand. */
    copiesOf: (targets: readonly StoredTarget[]) =>
      targets.flatMap(({ name, images }) =>
        images === true
          ? [{ target: name, what: imagesWhat, start: (signal: AbortSignal) => turn(() => copyTo(name, signal)) }]
          : [],
      ),
    /**
     * Whether the engine has the image now, from a copy if need be. Never rejects; a target that does not have it is not asked
     * again for a while.
     */
    bring: (id: string): Promise<boolean> =>
      taking().length === 0 ? Promise.resolve(false) : bringing(() => bring(id)),
    failing: () => taking().flatMap(({ name }) => failingOf(name, imagesWhat, runsOf(name))),
    /** Removes copies of images that nothing needs any more, a while after they were made. */
    async expire({ name }: StoredTarget, repository: Repository, signal: AbortSignal): Promise<void> {
      if (runsOf(name).length === 0) return;
      const wanted = new Set(room.wanted());
      const oldest = clock.now() - limits.imagesKeptMs;
      const old = (await repository.snapshots(signal)).filter(({ tags, at }) => {
        const id = imageOf(tags);
        return id !== undefined && !wanted.has(id) && at < oldest;
      });
      if (old.length > 0)
        await repository.drop(
          old.map(({ id }) => id),
          signal,
        );
    },
  };
}
