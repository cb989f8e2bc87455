import { isoTime } from "../../base/pure/iso-time.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import type { BackupSummary, Snapshot } from "../core/restic-words.ts";
import { sizeText } from "../core/size.ts";
import type { BackupRecords, StoredTarget } from "./records.ts";
import type { Repository } from "./repository.ts";
import { isDueAgain } from "./shown.ts";

/**
 * The list of the copies that this server made, which is sealed with its key: a target that lost one, or shows an older
 * state than it holds, is found out at the next look.
 */
export function createLedger(
  records: Pick<BackupRecords, "copies" | "putCopies" | "targets">,
  clock: SteadyClock,
  { copiesKnownMax }: { copiesKnownMax: number },
) {
  const missing = new Map<string, { sinceAt: number; count: number; newestAt: number }>();

  /** Others remove old copies from an append-only target: only the newest must be there. */
  function compare({ name, appendOnly }: StoredTarget, listed: readonly Snapshot[]): void {
    const ids = new Set(listed.map(({ id }) => id));
    const known = records.copies(name);
    const gone = (appendOnly ? known.slice(-1) : known).filter(({ id }) => !ids.has(id));
    const sinceAt = missing.get(name)?.sinceAt ?? clock.now();
    const newestAt = gone.at(-1)?.at ?? 0;
    if (gone.length === 0) missing.delete(name);
    else missing.set(name, { sinceAt, count: gone.length, newestAt });
  }

  async function note(target: string, { snapshot }: BackupSummary): Promise<void> {
    const known = records.copies(target).filter(({ id }) => id !== snapshot);
    await records.putCopies(target, [...known, { id: snapshot, at: clock.now() }].slice(-copiesKnownMax));
  }

  /** Takes out of the list what this server has removed, and nothing else that is gone; ids may be short. */
  async function removed(target: string, ids: readonly string[]): Promise<void> {
    const known = records.copies(target);
    const kept = known.filter(({ id }) => !ids.some((one) => id.startsWith(one)));
    if (kept.length < known.length) await records.putCopies(target, kept);
  }

  return {
    /** The same repository; what is copied, removed and listed there is compared with the list. */
    watch: (target: StoredTarget, repository: Repository): Repository => ({
      ...repository,
      async snapshots(signal) {
        const listed = await repository.snapshots(signal);
        compare(target, listed);
        const damaged = new Set(records.targets().find(({ name }) => name === target.name)?.damaged);
        return listed.map((one) => (damaged.has(one.id) ? { ...one, isDamaged: true } : one));
      },
      async confirmed(...written) {
        const found = await repository.confirmed(...written);
        await note(target.name, found);
        return found;
      },
      async backup(copy, signal) {
        const found = await repository.backup(copy, signal);
        await note(target.name, found);
        return found;
      },
      async forget(tags, keep, signal) {
        const ids = await repository.forget(tags, keep, signal);
        await removed(target.name, ids);
        return ids;
      },
      async drop(ids, signal) {
        await repository.drop(ids, signal);
        await removed(target.name, ids);
      },
    }),
    /** Copies that are missing at targets although this server did not remove them. */
    failing: () =>
      [...missing].map(([target, { sinceAt, count, newestAt }]) => {
        const lost = `${count} ${count === 1 ? "copy" : "copies"} that this server made, the newest of ${isoTime(newestAt)}`;
        const wayOut = `if you removed them, say so: berth backup target add ${target} again, with its address`;
        return { target, what: "list", sinceAt, error: `${lost}, is missing at the target; ${wayOut}` };
      }),
    /** What is there now is right: an operator has removed the rest. */
    async forgive(target: string) {
      missing.delete(target);
      await records.putCopies(target, []);
    },
  };
}

/** Looks after what is at the targets: whether it can be read, each week, and how large it is, each day. */
export function createInspector(
  records: Pick<BackupRecords, "targets" | "changeTarget">,
  clock: SteadyClock,
  log: Log,
  limits: { checkEveryMs: number; checkParts: number; sizeEveryMs: number; sizesKept: number },
) {
  const found = (name: string) => records.targets().find((one) => one.name === name);

  async function check({ name, checks = 0 }: StoredTarget, repository: Repository, signal: AbortSignal) {
    const at = clock.now();
    const done = (checkError: string | undefined) =>
      records.changeTarget(name, (stands) => {
        const checkFailedAt = checkError === undefined ? undefined : (stands.checkFailedAt ?? at);
        return { ...stands, checkedAt: at, checks: checks + 1, checkError, checkFailedAt };
      });
    try {
      await repository.check(`${(checks % limits.checkParts) + 1}/${limits.checkParts}`, signal);
      await done(undefined);
    } catch (error) {
      log.warn("target not checked", { target: name, error });
      // A copy is under way there: the next look tries again.
      if (!(error instanceof Failure) || signal.aborted || error.message.includes("already locked")) return;
      await done(`${error.message}; see: berth backup repair ${name}`);
    }
  }

  async function measure({ name }: StoredTarget, repository: Repository, signal: AbortSignal): Promise<void> {
    try {
      const size = { at: clock.now(), bytes: await repository.totalSize(signal) };
      await records.changeTarget(name, (stands) => ({
        ...stands,
        sizes: [...(stands.sizes ?? []), size].slice(-limits.sizesKept),
      }));
    } catch (error) {
      log.warn("target not measured", { target: name, error });
    }
  }

  return {
    /** Never rejects. */
    async inspect(name: string, repository: Repository, signal: AbortSignal): Promise<void> {
      const target = found(name);
      if (target === undefined) return;
      const now = clock.now();
      if (isDueAgain(target.checkedAt ?? target.createdAt, now, limits.checkEveryMs))
        await check(target, repository, signal);
      if (isDueAgain(target.sizes?.at(-1)?.at, now, limits.sizeEveryMs)) await measure(target, repository, signal);
    },
    /** Targets whose last check failed, and those that are larger than they may be. */
    failing: () =>
      records.targets().flatMap(({ name: target, checkError, checkFailedAt = 0, sizes = [], maxBytes = Infinity }) => {
        const over = sizes.findLastIndex(({ bytes }) => bytes <= maxBytes) + 1;
        const [first, newest] = [sizes[over], sizes.at(-1)];
        const wayOut = "keep less (--keep), or allow more (--max-size)";
        return [
          ...(checkError === undefined ? [] : [{ target, what: "check", sinceAt: checkFailedAt, error: checkError }]),
          ...(first === undefined || newest === undefined
            ? []
            : [
                {
                  target,
                  what: "size",
                  sinceAt: first.at,
                  error: `${sizeText(newest.bytes)}, more than ${sizeText(maxBytes)}; ${wayOut}`,
                },
              ]),
        ];
      }),
  };
}
