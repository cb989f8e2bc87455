import { isoTime } from "../../base/pure/iso-time.ts";
import { Failure } from "../../base/wire/failure.ts";
import { createLimit } from "../../base/words/limit.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import type { beginRestore, listRestores, planRestore, Restore, RestoreBody } from "../api/restore.ts";
import { isUnfinished } from "../api/protection.ts";
import { expectedMs, isNamed } from "../core/restore-choice.ts";
import { isDump, whatOf } from "../core/subject.ts";
import { createDumpRestores } from "./restore-dump.ts";
import { createFills } from "./restore-database.ts";
import { createRestoreItems } from "./restore-item.ts";
import type { Fill, RestoreParts, StoredRestore } from "./restore-parts.ts";
import { planRestores } from "./restore-plan.ts";

const stayingDatabase =
  "it holds backups, and the database stays as it is; to bring that back: berth pg:restore or berth redis:restore";

/** Data of volumes that is brought back from copies. */
export interface Restores {
  /** What `begin` would do. Fails as `planRestores` does. */
  plan(body: RestoreBody): Promise<DataOf<typeof planRestore>>;
  begin(body: RestoreBody, actor: string): Promise<DataOf<typeof beginRestore>>;
  list(group: string | undefined): DataOf<typeof listRestores>;
  /** Brings back what the newest restore in place replaced. Fails `not_found` where nothing of that is kept. */
  undo(
    app: { scope: string; name: string; volume?: string | undefined },
    actor: string,
  ): Promise<DataOf<typeof beginRestore>>;
  /** Volumes whose newest restore failed within the last day. */
  failing(): { target: string; what: string; sinceAt: number; error: string }[];
  /** Ends what a killed server has begun, and removes what was kept long enough, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createRestores(parts: RestoreParts): Restores {
  const { records, volumes, clock, log, limits } = parts;
  const items = createRestoreItems(parts);
  const fills = createFills(parts, items.save);
  const dumped = createDumpRestores(parts, items.save);
  const closing = new AbortController();
  /** One volume after the other. */
  const one = createLimit(1);
  const hold = (volume: string | undefined) => (volume === undefined ? () => undefined : volumes.hold(volume));
  // Apps start nothing on what a killed server has left half done, from the first moment on.
  const left = records.restores().filter(isUnfinished);
  const holds = new Map(left.map(({ id, volume }) => [id, hold(volume)]));
  const recovered = Promise.withResolvers<void>();
  // No copy is made of them either.
  if (left.length > 0) void parts.turn(() => recovered.promise);

  async function requireFree(wanted: readonly { volume: string | undefined }[]): Promise<void> {
    const busy = records.restores().filter(isUnfinished);
    const taken = wanted.find(({ volume }) => volume !== undefined && busy.some((other) => other.volume === volume));
    if (taken === undefined) return;
    throw new Failure("conflict", `volume "${taken.volume}" is being restored already; see: berth backup restores`);
  }

  const newId = () => Buffer.from(parts.randomBytes(6)).toString("hex");

  async function tell(restore: StoredRestore, action: string, actor: string): Promise<void> {
    const { subject, target, snapshot, way, volume, into, path } = restore;
    const place = into ?? volume ?? "";
    const detail = { what: whatOf(subject), way, place, target, snapshot, ...(path === undefined ? {} : { path }) };
    await parts.onEvent({ actor, action, detail });
  }

  /** Old rows go, but none that is under way or keeps data. */
  async function trim(): Promise<void> {
    const ended = records.restores().filter((restore) => !isUnfinished(restore) && restore.stage === undefined);
    const old = ended.sort((a, b) => b.startedAt - a.startedAt).slice(limits.restoresKept);
    for (const { id } of old) await records.removeRestore(id);
  }

  async function recoverAll(signal: AbortSignal): Promise<void> {
    for (const restore of left) {
      if (restore.database !== undefined || isOfPlugin(restore)) continue;
      while (!signal.aborted) {
        try {
          await items.recover(restore);
          log.info("restore of before the start ended", { restore: restore.id, state: restore.state });
          holds.get(restore.id)?.();
          break;
        } catch (error) {
          log.warn("restore of before the start not ended yet", { restore: restore.id, error });
          await clock.sleep(limits.lookMs, signal);
        }
      }
    }
  }

  /** Databases whose pods were being filled: what they need is there, or is fetched once more. */
  function fillLeft(): void {
    for (const restore of left) {
      const placed = holds.get(restore.id) ?? (() => undefined);
      if (restore.database !== undefined)
        void fills.carryOut(restore, restore.database, { placed, signal: closing.signal });
      else if (isOfPlugin(restore)) void dumped.recover(restore, closing.signal).finally(placed);
    }
  }

  /** Removes what a restore in place has replaced, once it was kept for long enough. */
  async function discardOld(): Promise<void> {
    const now = clock.now();
    for (const restore of records.restores()) {
      const { keptUntil, stage } = restore;
      if (isUnfinished(restore) || stage === undefined || keptUntil === undefined || keptUntil > now) continue;
      await items.discard(restore).catch((error: unknown) => log.warn("replaced data not removed", { error }));
    }
    await trim();
  }

  return {
    async plan(body) {
      const { volumes: planned, uncopied, unreachable } = await planRestores(parts, body);
      const backups = new Set(parts.volumes.databases().map((one) => one.backups.volume));
      const rows = planned.map(({ subject, labels: _, root: __, at, database, ...row }) => {
        const isOfBackups = row.replaces && row.volume !== undefined && backups.has(row.volume);
        const note = isOfBackups ? stayingDatabase : undefined;
        return { ...row, what: whatOf(subject), at: isoTime(at), fill: fillText(database), note };
      });
      // How long a database takes to replay is another question.
      const isKnown = planned.every(({ database }) => database === undefined);
      const ms = isKnown && expectedMs(rows, [...restoreTimings(records.restores()), ...records.drills()]);
      const seconds = ms ? Math.ceil(ms / 1_000) : undefined;
      return { volumes: rows, at: body.at ?? isoTime(clock.now()), seconds, uncopied, unreachable };
    },
    async begin(body, actor) {
      const { volumes: planned } = await planRestores(parts, body);
      await requireFree(planned);
      const group = newId();
      const begun = planned.map(({ replaces: _, ...wanted }): StoredRestore => {
        const open = { endedAt: undefined, error: undefined, stage: undefined, put: undefined, keptUntil: undefined };
        return { ...wanted, ...open, id: newId(), group, actor, state: "waiting", startedAt: clock.now() };
      });
      for (const restore of begun) {
        await records.putRestore(restore);
        await tell(restore, "backup.restore", actor);
      }
      const ended = begun.flatMap((restore) => {
        if (restore.database !== undefined || isOfPlugin(restore)) return [];
        const release = hold(restore.way === "missing" ? restore.volume : undefined);
        return one(() => parts.turn(() => items.carryOut(restore, closing.signal)))
          .catch((error: unknown) => log.error("restore failed", { error }))
          .finally(release);
      });
      for (const restore of begun) {
        const { database, volume } = restore;
        if (isOfPlugin(restore)) void Promise.all(ended).then(() => dumped.carryOut(restore, closing.signal));
        if (database === undefined) continue;
        const placed = hold(volume);
        // Its backups may be among the volumes, and its pod may wait for its image, which is fetched in the one turn of all.
        void Promise.all(ended).then(() => fills.carryOut(restore, database, { placed, signal: closing.signal }));
      }
      return { group, restores: begun.map((restore) => shownRestore(restore)) };
    },
    list(group) {
      const rows = records.restores().filter((restore) => group === undefined || restore.group === group);
      rows.sort((a, b) => b.startedAt - a.startedAt);
      return { restores: rows.map((restore) => shownRestore(restore, items.fetched(restore.id))) };
    },
    async undo({ scope, name, volume }, actor) {
      const newest = new Map<string, StoredRestore>();
      for (const restore of records.restores().toSorted((a, b) => a.startedAt - b.startedAt)) {
        const { subject, state, put, way } = restore;
        const isMeant = subject.scope === scope && subject.name === name && isNamed(subject, volume);
        if (isMeant && way === "in_place" && put !== undefined && state === "done")
          newest.set(whatOf(subject), restore);
      }
      if (newest.size === 0) {
        const text = `nothing to undo: of ${scope}/${name}, no data that a restore in place replaced is kept`;
        throw new Failure("not_found", `${text}; see: berth backup restores`);
      }
      const begun = [...newest.values()];
      await requireFree(begun);
      for (const restore of begun) await items.requireKept(restore);
      const group = newId();
      for (const restore of begun) {
        await items.beginUndo(restore, group);
        await tell(restore, "backup.restore.undo", actor);
        const undone = isOfPlugin(restore)
          ? dumped.undo(restore, closing.signal)
          : one(() => parts.turn(() => items.undo(restore)));
        undone.catch((error: unknown) => log.error("restore not undone", { error }));
      }
      return { group, restores: begun.map((restore) => shownRestore(restore)) };
    },
    failing() {
      const newest = new Map(
        records
          .restores()
          .toSorted((a, b) => a.startedAt - b.startedAt)
          .map((restore) => [whatOf(restore.subject), restore]),
      );
      return [...newest].flatMap(([what, { target, state, startedAt, endedAt: sinceAt = startedAt, error = "" }]) => {
        const isNews = state === "failed" && sinceAt > clock.now() - limits.restoreFailedMs;
        return isNews
          ? [{ target, what: `restore ${what}`, sinceAt, error: `${error}; see: berth backup restores` }]
          : [];
      });
    },
    async run(signal) {
      signal.addEventListener("abort", () => closing.abort(), { once: true });
      await one(() => recoverAll(signal)).finally(recovered.resolve);
      if (!signal.aborted) fillLeft();
      while (!signal.aborted) {
        await one(discardOld).catch((error: unknown) => log.warn("old restores not removed", { error }));
        await clock.sleep(limits.retryMs, signal);
      }
      await one(async () => undefined);
    },
  };
}

/** The plugin of a block reads it; into a folder it goes as any copy. */
const isOfPlugin = ({ subject, way }: StoredRestore) => isDump(subject) && way !== "into";

/** What a database is filled with, for people and programs: the id of a backup, or `WAL`. */
const fillText = (fill: Fill | undefined) => fill && (fill.backup ?? "WAL");

const restoreTimings = (restores: readonly StoredRestore[]) =>
  restores.flatMap(({ target, bytes, state, startedAt, endedAt, error, database }) => {
    const isDone = state === "done" && error === undefined && endedAt !== undefined && database === undefined;
    return isDone ? [{ target, bytes, ms: Math.max(0, endedAt - startedAt) }] : [];
  });

function shownRestore(restore: StoredRestore, fetched?: number): Restore {
  const { id, group, subject, way, volume, mount, into, path, target, snapshot, bytes, state, error } = restore;
  return {
    ...{
      fill: fillText(restore.database),
      id,
      group,
      what: whatOf(subject),
      way,
      volume,
      mount,
      into,
      path,
      target,
      snapshot,
      bytes,
      state,
      error,
      bytes_fetched: state === "fetching" ? fetched : undefined,
    },
    at: isoTime(restore.at),
    started_at: isoTime(restore.startedAt),
    ended_at: restore.endedAt === undefined ? undefined : isoTime(restore.endedAt),
    kept_until: restore.keptUntil === undefined || state !== "done" ? undefined : isoTime(restore.keptUntil),
  };
}
