import { isoTime } from "../../base/pure/iso-time.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { Failure, problemsFailure, shownCause } from "../../base/wire/failure.ts";
import type { Clock } from "../../base/words/clock.ts";
import type { Limit } from "../../base/words/limit.ts";
import type { Log } from "../../base/words/log.ts";
import type { listRepairs, Repair, RepairBody } from "../api/repairs.ts";
import type { DamagedCopy, Faults } from "../core/damage.ts";
import type { Restic } from "../restic/restic.ts";
import { readRecoveryKey } from "../core/recovery-key.ts";
import type { Snapshot } from "../core/restic-words.ts";
import { stateWhat } from "../core/subject.ts";
import { type BackupRecords, runsId, type StoredTarget } from "./records.ts";
import type { Locks } from "./locks.ts";
import { createRepository, type Repository, type RepositoryLimits } from "./repository.ts";
import { isCopy, whatIn } from "./shown.ts";

/** Repairs of targets that have lost data, one at a time. */
export interface Repairs {
  /** Fails `not_found` for an unknown target, `conflict` while a repair is under way, or where this server may remove nothing. */
  begin(target: string | null, body: RepairBody, actor: string): { id: string };
  list(): DataOf<typeof listRepairs>;
  /** Whether copies to a target read every file again, because it may have lost what earlier copies wrote. */
  isFresh(target: string): boolean;
}

interface RepairParts {
  records: Pick<BackupRecords, "changeTarget" | "runs">;
  /** Fails `not_found`. */
  stored(name: string | null): StoredTarget;
  repositoryOf(target: StoredTarget): Promise<Repository>;
  restic: Restic;
  locks: Locks;
  /** Fails where another server has taken the place of this one at the target. */
  look(target: string, repository: Repository): Promise<unknown>;
  clock: Pick<Clock, "now">;
  log: Log;
  random(count: number): Uint8Array;
  closing: AbortSignal;
  onEvent(event: { actor: string; action: string; detail: Record<string, string> }): Promise<void>;
  limits: RepositoryLimits & { repairsKept: number; missingShownMax: number };
}

/** What copies to a target. */
interface Copiers {
  /** The one turn of all copies of volumes and restores, and that of what reads beside them. */
  turn: Limit;
  reading: Limit;
  states: { alone: Limit; copyTo(target: string, signal: AbortSignal): Promise<void> };
  volumes: { copiesOf(app: undefined, targets: readonly StoredTarget[]): Copier[] };
  /** Images, and what the server holds beside its state. */
  beside: { copiesOf(targets: readonly StoredTarget[]): Copier[] };
}

type Copier = { what: string; start(signal: AbortSignal): Promise<void> };

export function createRepairs(parts: RepairParts, { turn, reading, states, volumes, beside }: Copiers): Repairs {
  const { records, clock, log, limits, closing } = parts;
  /** Newest first. */
  const known: Repair[] = [];
  let fresh: string | undefined;

  /** Runs what needs the repository for itself. */
  const alone = <T>(work: () => Promise<T>) => reading(() => turn(() => states.alone(work)));

  function shownCopy(copy: DamagedCopy): Repair["damaged"][number] {
    const { id, at, missing } = copy;
    const what = isCopy(copy) ? whatIn(copy.tags) : "a mark of the server's own";
    const shown = missing.slice(0, limits.missingShownMax);
    return { id, at: isoTime(at), what, missing: shown, missing_count: missing.length };
  }

  /** What is lost now; the copies are marked, so that none of them is taken for the newest good one. */
  async function lookAt(repair: Repair, repository: Repository): Promise<DamagedCopy[]> {
    repair.doing = "checking what is there";
    const faults = await repository.faults(closing);
    const damaged = await repository.damaged(faults, closing);
    Object.assign(repair, { faults: faultTexts(faults), damaged: damaged.map(shownCopy) });
    const isGood = repair.faults.length === 0;
    await records.changeTarget(repair.target, (stands) => ({
      ...stands,
      damaged: damaged.map(({ id }) => id),
      ...(isGood ? { checkError: undefined, checkFailedAt: undefined, checkedAt: clock.now() } : {}),
    }));
    return damaged;
  }

  /** Rejects for no copy that fails: answers with what went wrong. */
  async function copyAll(target: StoredTarget): Promise<Repair["copies"]> {
    await states.copyTo(target.name, closing);
    const others = [...volumes.copiesOf(undefined, [target]), ...beside.copiesOf([target])];
    for (const { start } of others) await start(closing);
    return [undefined, ...others.map(({ what }) => what)].map((what) => {
      const [run] = records.runs(runsId(target.name, what));
      return { what: what ?? stateWhat, error: run?.error };
    });
  }

  /**
   * Brings copies that another key opens here, oldest first, each in a turn of its own. Those that are here already are left
   * out, so that one which was cut off goes on. A copy that cannot be read holds up no other.
   */
  async function carryOver(repair: Repair, repository: Repository, target: StoredTarget, key: string): Promise<void> {
    const { installation, text: password } = readRecoveryKey(key);
    const access = { url: target.url, credentials: target.credentials, installation, password };
    const source = createRepository(parts.restic, access, limits, parts.locks);
    const nameOf = ({ at, tags }: Snapshot) => `${at} ${tags.toSorted().join()}`;
    const known = await repository.snapshots(closing);
    const [ids, there] = [new Set(known.map(({ id }) => id)), new Set(known.map(nameOf))];
    const old = (await source.snapshots(closing)).filter((one) => isCopy(one));
    // Nothing would be brought, and who hears that all is there removes the old repository.
    if (old.some(({ id }) => ids.has(id)))
      throw new Failure(
        "invalid",
        "this is the recovery key of today: give the one that berth backup key --new replaced",
      );
    const wanted = old.filter((one) => !there.has(nameOf(one))).sort((a, b) => a.at - b.at);
    for (const [done, { id, at, tags }] of wanted.entries()) {
      repair.doing = `carrying copies over: ${done} of ${wanted.length}`;
      const error = await turn(() => repository.take({ installation, password }, id, closing)).then(
        () => undefined,
        (fault: unknown) => shownCause(fault),
      );
      closing.throwIfAborted();
      repair.copies.push({ what: whatIn(tags), at: isoTime(at), error });
    }
  }

  async function carryOut(repair: Repair, key: string | undefined): Promise<void> {
    const target = parts.stored(repair.target);
    const repository = await parts.repositoryOf(target);
    await parts.look(target.name, repository);
    if (key !== undefined) return carryOver(repair, repository, target, key);
    if (repair.step === "repair") {
      await alone(async () => {
        repair.doing = "rebuilding the index";
        await repository.repairIndex(closing);
      });
      repair.doing = "copying everything again";
      fresh = target.name;
      repair.copies = await copyAll(target).finally(() => (fresh = undefined));
    }
    await alone(async () => {
      const damaged = await lookAt(repair, repository);
      if (repair.step !== "remove" || damaged.length === 0) return;
      repair.doing = "removing damaged copies";
      await repository.drop(
        damaged.map(({ id }) => id),
        closing,
      );
      await repository.prune(closing);
      repair.removed = damaged.length;
      // The note which server acts may have been among them: it is written again at once.
      await parts.look(target.name, repository);
      await lookAt(repair, repository);
    });
  }

  return {
    begin(name, { step, key }, actor) {
      const { name: target, appendOnly } = parts.stored(name);
      if (known.some(({ ended_at: ended }) => ended === undefined))
        throw new Failure("conflict", "a repair is under way; GET /backups/repairs shows it");
      if ((step === "carry_over") !== (key !== undefined))
        throw problemsFailure([{ path: "key", message: "goes with the step carry_over, which needs it" }]);
      if (key !== undefined) readRecoveryKey(key);
      if (appendOnly && (step === "repair" || step === "remove")) {
        const why = "this server may remove nothing at an append-only target; docs/backups.md says how to repair it";
        throw new Failure("conflict", why);
      }
      const begun = {
        id: Buffer.from(parts.random(6)).toString("hex"),
        target,
        step,
        actor,
        started_at: isoTime(clock.now()),
      };
      const repair: Repair = { ...begun, faults: [], copies: [], damaged: [] };
      known.unshift(repair);
      known.splice(limits.repairsKept);
      void parts
        .onEvent({ actor, action: "backup.repair", detail: { target, step } })
        .then(() => carryOut(repair, key))
        .catch((error: unknown) => {
          repair.error = shownCause(error);
          log.warn("target not repaired", { target, step, error });
        })
        .finally(() => Object.assign(repair, { doing: undefined, ended_at: isoTime(clock.now()) }));
      return { id: repair.id };
    },
    list: () => ({ repairs: known }),
    isFresh: (target) => fresh === target,
  };
}

function faultTexts({ packs, trees, files, others }: Faults): string[] {
  const counted = (count: number, one: string, more: string) =>
    count === 0 ? [] : [count === 1 ? `1 ${one}` : `${count} ${more}`];
  return [
    ...counted(packs.length, "pack of data is missing or damaged", "packs of data are missing or damaged"),
    ...counted(trees.length, "folder of copies cannot be read", "folders of copies cannot be read"),
    ...counted(files.length, "file of copies lacks data", "files of copies lack data"),
    ...others,
  ];
}
