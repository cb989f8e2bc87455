import { Failure, shownCause } from "../../base/wire/failure.ts";
import type { RestoreParts, StoredRestore } from "./restore-parts.ts";

/**
 * Restores of single volumes. The data is written into a folder beside its place, on the same file system. Once all of it
 * is there, what uses the volume is stopped, and the two are exchanged. Each step is stored before it begins, so that a
 * kill at any point leaves the old data or the new, and the next start knows which.
 */
export function createRestoreItems(parts: RestoreParts) {
  const { records, volumes, folders, clock, log, limits } = parts;

  /** Bytes that are there of those that are fetched now. */
  const fetched = new Map<string, number>();

  async function save(restore: StoredRestore, change: Partial<StoredRestore>): Promise<void> {
    Object.assign(restore, change);
    await records.putRestore({ ...restore });
  }

  const identity = async (path: string) => (await folders.identity(path)) ?? "";

  /** The folder that the data goes to, and the one beside it. The volume is made where there is none. */
  async function prepare(restore: StoredRestore): Promise<{ live: string; stage: string }> {
    const { id, way, into, volume = "", labels } = restore;
    if (way === "into" && into !== undefined) return { live: into, stage: `${into}.berth-restore-${id}` };
    const found = await volumes.find(volume);
    if (way !== "in_place") {
      if (found !== undefined)
        throw new Failure("conflict", `volume "${volume}" was made meanwhile; what is in it stays`);
      await volumes.make(volume, labels);
    }
    const live = (await volumes.find(volume))?.mountpoint;
    if (live === undefined)
      throw new Failure("conflict", `volume "${volume}" is gone, or has no folder of this machine`);
    return { live, stage: `${live.replace(/\/[^/]+$/, "")}/berth-restore-${id}` };
  }

  async function fetch(restore: StoredRestore, signal: AbortSignal): Promise<void> {
    const { target, snapshot, path, root, way } = restore;
    await save(restore, { state: "fetching" });
    const { live, stage } = await prepare(restore);
    await save(restore, { stage });
    const { freeBytes } = await folders.space(stage);
    if (restore.bytes + limits.restoreSpareBytes > freeBytes)
      throw new Failure("storage_full", `the disk of "${live}" is too full for the copy; free some space`);
    await folders.make(stage);
    const onBytes = (bytes: number) => void fetched.set(restore.id, Math.min(bytes, restore.bytes));
    await (await parts.source(target)).restore(snapshot, stage, signal, path, onBytes);
    if (path === undefined && way !== "into") await folders.dress(stage, root ?? live);
    await folders.complete(stage, signal);
    if (path === undefined || way === "into") {
      await save(restore, { put: { from: stage, to: live, fresh: await identity(stage) } });
      return;
    }
    if ((await folders.identity(`${stage}/${path}`)) === undefined)
      throw new Failure("not_found", `the copy does not hold "${path}"`);
    await save(restore, { put: { from: stage, to: live, fresh: "" } });
  }

  /** What runs with the volume is stopped first, and stays so until the data is in its place. */
  async function place(restore: StoredRestore): Promise<void> {
    const { path, way, volume } = restore;
    if (volume !== undefined) await volumes.stopUsers(volume);
    let { put } = restore;
    if (put === undefined) throw new Failure("internal", `restore ${restore.id} has nothing to put in place`);
    if (path !== undefined && way === "in_place" && restore.state === "fetching") {
      // Only now nothing changes the volume any more.
      const part = await folders.part(put.to, path);
      const [from, to] = [`${put.from}/${part}`, `${put.to}/${part}`];
      put = { from, to, fresh: await identity(from) };
    }
    // The fetch may have taken hours, and what is exchanged with a folder of the machine is not kept.
    if (way === "into" && restore.state === "fetching" && !(await folders.isMissingOrEmpty(put.to)))
      throw new Failure("conflict", `"${put.to}" is no longer empty; what is there stays: name a new folder`);
    await save(restore, { state: "placing", put });
    await folders.swap(put.from, put.to);
    await finish(restore);
  }

  /** The new data is in its place. */
  async function finish(restore: StoredRestore): Promise<void> {
    const isKept = restore.way === "in_place";
    if (!isKept && restore.stage !== undefined) await folders.remove(restore.stage);
    const now = clock.now();
    const keptUntil = isKept ? now + limits.restoreKeptMs : undefined;
    await save(restore, { state: "done", endedAt: now, keptUntil, error: undefined });
    log.info("volume restored", { restore: restore.id, volume: restore.volume, into: restore.into });
  }

  /** Nothing has taken the place of anything. */
  async function giveUp(restore: StoredRestore, error: string): Promise<void> {
    const { way, volume, stage, state } = restore;
    if (stage !== undefined) await folders.remove(stage);
    const isMade = way === "missing" || way === "beside";
    if (isMade && state !== "waiting" && volume !== undefined) await volumes.remove(volume);
    await save(restore, { state: "failed", endedAt: clock.now(), error, put: undefined });
    log.warn("volume not restored", { restore: restore.id, volume, error });
  }

  async function isPlaced({ put }: StoredRestore): Promise<boolean> {
    if (put === undefined) return false;
    await folders.settle(put.from, put.to);
    return (await identity(put.to)) === put.fresh;
  }

  /** An app may have put another file in the place of the restored one. */
  async function lookAgain({ put }: StoredRestore): Promise<StoredRestore["put"]> {
    return put && { ...put, fresh: await identity(put.to) };
  }

  /** A volume that was removed since took along what was replaced. What is in its place now must stay there. */
  async function requireKept({ stage, volume }: StoredRestore): Promise<void> {
    if (stage !== undefined && (await folders.identity(stage)) !== undefined) return;
    throw new Failure("not_found", `what the restore of volume "${volume}" replaced is gone; the data stays as it is`);
  }

  async function takeBack(restore: StoredRestore): Promise<void> {
    await requireKept(restore);
    const { volume } = restore;
    if (volume !== undefined) await volumes.stopUsers(volume);
    const put = await lookAgain(restore);
    if (put === undefined) return;
    await save(restore, { state: "undoing", put });
    await folders.swap(put.from, put.to);
    await save(restore, { state: "undone", endedAt: clock.now(), error: undefined });
    log.info("restore undone", { restore: restore.id, volume });
  }

  async function undo(restore: StoredRestore): Promise<void> {
    try {
      await takeBack(restore);
    } catch (error) {
      const why = error instanceof Failure ? error.message : String(error);
      log.warn("restore not undone", { restore: restore.id, error });
      const state = (await isPlaced(restore)) ? "done" : "undone";
      await save(restore, { state, endedAt: clock.now(), error: `not undone: ${why}` });
    }
  }

  /** Apps that mount the volume start nothing while `work` goes on. */
  async function holding(volume: string | undefined, work: () => Promise<void>): Promise<void> {
    const release = volume === undefined ? () => undefined : volumes.hold(volume);
    await work().finally(release);
  }

  return {
    save,
    /**
     * Never rejects: what went wrong is in the record. An app whose volume is missing must be held until it has ended, so
     * that it does not start with an empty one.
     */
    async carryOut(restore: StoredRestore, signal: AbortSignal): Promise<void> {
      const { volume } = restore;
      try {
        await fetch(restore, signal).finally(() => fetched.delete(restore.id));
        await holding(volume, () => place(restore));
      } catch (error) {
        if (!(error instanceof Failure)) log.error("restore failed", { restore: restore.id, error });
        const why = shownCause(error);
        const ended = restore.state === "placing" && (await isPlaced(restore)) ? finish(restore) : giveUp(restore, why);
        // What cannot be cleared away now is taken up by the next start.
        await ended.catch((cause: unknown) => log.error("restore not ended", { restore: restore.id, error: cause }));
      }
    },
    /** Ends what a killed server has begun. Fails while the engine is away. */
    recover: (restore: StoredRestore) =>
      holding(restore.volume, async () => {
        const { state, put } = restore;
        if (state === "undoing") {
          const isGone = (await identity(restore.stage ?? "")) === "";
          if (isGone || (await isPlaced(restore))) await undo(restore);
          else await save(restore, { state: "undone", endedAt: clock.now() });
        } else if (state !== "placing") {
          await giveUp(restore, "the server was stopped before the data was in its place; what was there is unchanged");
        } else if (await isPlaced(restore)) await finish(restore);
        else if (put !== undefined && (await identity(put.from)) !== "") await place(restore);
        else await giveUp(restore, "the volume was removed before the data was in its place");
      }),
    /** Says that `undo` will bring back what was replaced: from now on the next start of the server does, too. */
    async beginUndo(restore: StoredRestore, group: string): Promise<void> {
      const put = await lookAgain(restore);
      await save(restore, { state: "undoing", group, put, endedAt: undefined, error: undefined });
    },
    /** Never rejects. */
    undo: (restore: StoredRestore) => holding(restore.volume, () => undo(restore)),
    requireKept,
    fetched: (id: string) => fetched.get(id),
    /** Removes what was replaced. */
    async discard(restore: StoredRestore): Promise<void> {
      if (restore.stage !== undefined) await folders.remove(restore.stage);
      await save(restore, { keptUntil: undefined, stage: undefined, put: undefined });
    },
  };
}
