import { Failure, shownCause } from "../../base/wire/failure.ts";
import { dumpFile } from "../core/subject.ts";
import type { RestoreParts, StoredRestore } from "./restore-parts.ts";

/** In the folder of a restore in place: what was there before. */
const beforeFile = "before";

/**
 * Restores of blocks whose plugin reads its own dumps. A pod of the block has to run, and may need an image or a volume that
 * others bring back: so only the fetch has the one turn of all.
 */
export function createDumpRestores(
  parts: RestoreParts,
  save: (restore: StoredRestore, change: Partial<StoredRestore>) => Promise<void>,
) {
  const { dumps, volumes, folders, clock, log, limits } = parts;
  const file = ({ stage }: StoredRestore, name: string) => `${stage}/${name}`;

  async function fetch(restore: StoredRestore, signal: AbortSignal): Promise<void> {
    await save(restore, { state: "fetching" });
    const stage = await dumps.make(`restore-${restore.id}`);
    await save(restore, { stage });
    const { freeBytes } = await folders.space(stage);
    if (restore.bytes + limits.restoreSpareBytes > freeBytes)
      throw new Failure("storage_full", `the disk of "${stage}" is too full for the dump; free some space`);
    await (await parts.source(restore.target)).restore(restore.snapshot, stage, signal, dumpFile);
  }

  /** What is there is dumped first: it is the way back. Pods that lack their volumes get empty ones. */
  async function prepare(restore: StoredRestore, signal: AbortSignal): Promise<void> {
    const { subject, way } = restore;
    if (way === "in_place")
      await dumps.dump(subject, file(restore, beforeFile), signal).catch((error: unknown) => {
        const text = `what is there cannot be kept, so it stays: ${shownCause(error)}; to replace it all the same, `;
        throw new Failure("conflict", `${text}remove the volumes of the app, and restore without --in-place`);
      });
    await save(restore, { state: "placing" });
    for (const { volume, labels } of dumps.find(subject) ?? [])
      if ((await volumes.find(volume)) === undefined) await volumes.make(volume, labels);
  }

  async function place(restore: StoredRestore, signal: AbortSignal): Promise<void> {
    const { subject, way, stage = "" } = restore;
    try {
      await dumps.restore(subject, file(restore, dumpFile), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (way !== "in_place") throw error;
      const back = await dumps.restore(subject, file(restore, beforeFile), signal).then(
        () => "what was there is back",
        (cause: unknown) => `and what was there did not come back (${shownCause(cause)}): it is in ${stage}`,
      );
      throw new Failure("conflict", `${shownCause(error)}; ${back}`, { cause: error });
    }
    const now = clock.now();
    const isKept = way === "in_place";
    if (!isKept) await folders.remove(stage);
    const kept = isKept ? { keptUntil: now + limits.restoreKeptMs, put: { from: stage, to: "", fresh: "" } } : {};
    await save(restore, { state: "done", endedAt: now, error: undefined, ...kept });
    log.info("dump restored", { restore: restore.id, block: `${subject.scope}/${subject.name}` });
  }

  /** What was there stays in the folder where it did not come back by itself. */
  async function fail(restore: StoredRestore, error: unknown): Promise<void> {
    if (!(error instanceof Failure)) log.error("restore failed", { restore: restore.id, error });
    const why = shownCause(error);
    if (restore.stage !== undefined && !why.includes(restore.stage)) await folders.remove(restore.stage);
    await save(restore, { state: "failed", endedAt: clock.now(), error: why });
    log.warn("dump not restored", { restore: restore.id, error });
  }

  const ending = (restore: StoredRestore, signal: AbortSignal, work: () => Promise<void>) =>
    work().catch(async (error: unknown) => {
      // The next start goes on with it.
      if (signal.aborted && restore.state === "placing") return;
      await fail(restore, error).catch((cause: unknown) =>
        log.error("restore not ended", { restore: restore.id, error: cause }),
      );
    });

  return {
    /** Never rejects. */
    carryOut: (restore: StoredRestore, signal: AbortSignal) =>
      ending(restore, signal, async () => {
        if (restore.state !== "placing") {
          await parts.turn(() => fetch(restore, signal));
          await prepare(restore, signal);
        }
        await place(restore, signal);
      }),
    /** Ends what a killed server has begun; what a plugin had begun to read, it reads once more. */
    recover: (restore: StoredRestore, signal: AbortSignal) =>
      ending(restore, signal, async () => {
        if (restore.state === "placing") await place(restore, signal);
        else if (restore.state === "undoing") await takeBack(restore, signal);
        else
          throw new Failure("conflict", "the server was stopped before the plugin read the dump; nothing was changed");
      }),
    /** Never rejects. */
    undo: (restore: StoredRestore, signal: AbortSignal) => takeBack(restore, signal),
  };

  async function takeBack(restore: StoredRestore, signal: AbortSignal): Promise<void> {
    const error = await dumps.restore(restore.subject, file(restore, beforeFile), signal).then(
      () => undefined,
      (cause: unknown) => `not undone: ${shownCause(cause)}`,
    );
    if (signal.aborted && error !== undefined) return;
    await save(restore, { state: error === undefined ? "undone" : "done", endedAt: clock.now(), error });
  }
}
