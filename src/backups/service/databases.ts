import { join } from "node:path";
import type { Gate } from "../../base/deliver/gate.ts";
import { isoTime } from "../../base/pure/iso-time.ts";
import { Failure, shownCause } from "../../base/wire/failure.ts";
import type { Clock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import type { DatabasePoints, DatabaseRestore } from "../api/databases.ts";
import { readArchives, type WalArchive } from "../core/wal-objects.ts";
import { newestState, type NewestState, rangesOf, stretchesOf, stretchFor } from "../core/wal-plan.ts";
import type { Rclone } from "../restic/rclone.ts";
import { bringDatabase, outside, pairOf, shownPlan } from "./bring-database.ts";
import type { BackupRecords } from "./records.ts";
import { createDatabaseRemotes } from "./database-remotes.ts";
import { shipBases, type ShippedDatabase, type ShippingState, shipWal } from "./shipping.ts";

/** Databases that can be restored to any point in time of the last days: what their pods leave in an outbox goes to a target. */
export interface Databases {
  /** What can be restored, as the target lists it now. Fails `not_found` where nothing is there. */
  points(of: DatabaseName): Promise<DatabasePoints>;
  /** What a restore to a time would take; the newest state without one. Fails `conflict` with the range for a time outside of it. */
  plan(of: DatabaseName, at: string | undefined): Promise<DatabaseRestore>;
  /** Begins to bring it into the volume of another block, which waits for it. Fails as `plan` does. */
  bring(of: DatabaseName, how: { at: string | undefined; into: DatabaseName }): Promise<DatabaseRestore>;
  /** The newest state of a database that asks for it and is at its target, not after `until`; undefined where there is none. */
  newest(
    of: DatabaseName,
    how: { until: number | undefined; target: string | undefined },
  ): Promise<(NewestState & { target: string }) | undefined>;
  /** Brings that of a time, or the newest, into a volume from which its pod restores it. */
  fetch(of: DatabaseName, how: { until: number | undefined; mountPoint: string; isDrill?: boolean }): Promise<void>;
  /** Databases whose WAL does not reach the target: since when, and why. */
  failing(): { target: string; sinceAt: number; error: string }[];
  /** Ships until `signal` aborts; not before the gate is open. */
  run(signal: AbortSignal): Promise<void>;
}

interface DatabaseName {
  scope: string;
  name: string;
}

/** See `pointInTimeLimits`. */
interface DatabaseLimits {
  lookMs: number;
  listMs: number;
  retryMs: number;
  batchBytes: number;
  walFileBytesMax: number;
  askMs: number;
  workMs: number;
}

interface DatabasesOptions {
  records: Pick<BackupRecords, "key" | "targets">;
  rclone: Rclone;
  /** Databases whose blocks ask for it. */
  list(): Promise<ShippedDatabase[]>;
  /** Where the volume of backups of a block lies on this machine; undefined where there is none. */
  mountPointOf(of: DatabaseName): Promise<string | undefined>;
  /** A folder of the server's own for what is under way. */
  staging: string;
  gate: Gate;
  clock: Clock;
  log: Log;
  limits: DatabaseLimits;
}

/** One of the two ways of a database to its target. */
interface Lane {
  target: string;
  isBusy: boolean;
  /** Since when it fails, why, and when it is tried again. */
  failing: { sinceAt: number; error: string; retryAt: number } | undefined;
}

export function createDatabases(options: DatabasesOptions): Databases {
  const { records, rclone, staging, gate, clock, log, limits } = options;
  const lanes = new Map<string, Lane>();
  const states = new Map<string, ShippingState>();
  const stateOf = ({ scope, name }: DatabaseName) => {
    const state = states.get(`${scope}/${name}`) ?? { shippedAt: undefined, mark: undefined };
    states.set(`${scope}/${name}`, state);
    return state;
  };
  /** Folders of restores that are under way: one for each block. */
  const bringing = new Set<string>();
  const closing = new AbortController();
  const { targetOf, remoteOf } = createDatabaseRemotes({ records, rclone, limits, signal: closing.signal });
  let listed: { at: number; databases: ShippedDatabase[] } = { at: 0, databases: [] };

  async function databases(): Promise<ShippedDatabase[]> {
    if (clock.now() - listed.at >= limits.listMs || listed.at > clock.now()) {
      listed = { at: clock.now(), databases: await options.list() };
    }
    return listed.databases;
  }

  /** Never rejects: what went wrong is in the lane. Base backups take long, and WAL goes on beside them. */
  async function ship(database: ShippedDatabase, what: "wal" | "bases"): Promise<void> {
    const id = `${database.scope}/${database.name}`;
    const lane = lanes.get(`${what} ${id}`) ?? { target: "", isBusy: false, failing: undefined };
    lanes.set(`${what} ${id}`, lane);
    if (lane.isBusy || (lane.failing?.retryAt ?? 0) > clock.now()) return;
    lane.isBusy = true;
    try {
      const target = targetOf(database.target);
      lane.target = target.name;
      const remote = await remoteOf(database, target);
      await { wal: shipWal, bases: shipBases }[what]({
        ...{ database, remote, state: stateOf(database), limits, clock, log },
        staging: join(staging, "ship", database.scope, database.name),
      });
      lane.failing = undefined;
    } catch (error) {
      const text = shownCause(error);
      if (lane.failing === undefined) log.warn("database not shipped", { database: id, what, error });
      lane.failing = {
        ...{ sinceAt: lane.failing?.sinceAt ?? clock.now(), error: `${id}: ${text}` },
        retryAt: clock.now() + limits.retryMs,
      };
    } finally {
      lane.isBusy = false;
    }
  }

  async function archivesOf(of: DatabaseName) {
    const target = targetOf(
      (await databases()).find(({ scope, name }) => scope === of.scope && name === of.name)?.target,
    );
    const remote = await remoteOf(of, target);
    const files = await remote.list("");
    const archives = readArchives(files.map(({ path }) => path));
    const { mark } = stateOf(of);
    const found = archives.map((archive) => ({ archive, stretches: stretchesOf(archive, mark) }));
    return { target, remote, files, found };
  }

  async function planned(of: DatabaseName, at: string | undefined) {
    const { target, remote, found } = await archivesOf(of);
    const all = found.flatMap(({ stretches }) => stretches);
    const ms = at === undefined ? Math.max(0, ...all.map(({ to }) => to)) : Date.parse(at);
    if (Number.isNaN(ms)) throw new Failure("invalid", `at: "${at}" is not a time; write it like 2026-11-27T14:05:00Z`);
    const stretch = stretchFor(all, ms);
    if (stretch === undefined) throw outside(of, ms, rangesOf(all));
    const archive = found.find(({ stretches }) => stretches.includes(stretch))?.archive as WalArchive;
    const about = new Map((await remote.text(stretch.base.about)).split("\n").map(pairOf));
    return { target, remote, archive, stretch, shown: shownPlan({ target, stretch, ms, at, about }) };
  }

  return {
    async points(of) {
      const { target, found } = await archivesOf(of);
      const all = found.flatMap(({ stretches }) => stretches);
      const bases = found.flatMap(({ archive }) => archive.bases);
      const { shippedAt } = stateOf(of);
      const failing = ["wal", "bases"].map((what) => lanes.get(`${what} ${of.scope}/${of.name}`)?.failing?.error);
      return {
        target: target.name,
        ranges: rangesOf(all).map(({ from, to }) => ({ from: isoTime(from), to: isoTime(to) })),
        bases: bases.map(({ endedAt }) => isoTime(endedAt)).sort(),
        shipped_at: shippedAt === undefined ? undefined : isoTime(shippedAt),
        error: failing.find((error) => error !== undefined),
      };
    },
    plan: async (of, at) => (await planned(of, at)).shown,
    async bring(of, { at, into }) {
      const plan = await planned(of, at);
      const mountPoint = await options.mountPointOf(into);
      if (mountPoint === undefined) {
        throw new Failure(
          "conflict",
          `${into.scope}/${into.name} has no volume for a restore yet; try again in a moment`,
        );
      }
      const until = at === undefined ? undefined : Date.parse(at);
      const folder = join(staging, "restore", into.scope, into.name);
      if (bringing.has(folder))
        throw new Failure("conflict", `${into.scope}/${into.name} is being restored already; wait for its end`);
      bringing.add(folder);
      const limit = AbortSignal.timeout(limits.workMs);
      void bringDatabase({ ...plan, mountPoint, until, staging: folder, limit })
        .catch((error: unknown) => log.error("database not brought", { database: `${of.scope}/${of.name}`, error }))
        .finally(() => bringing.delete(folder));
      return plan.shown;
    },
    async newest(of, { until, target: wanted }) {
      if (!(await databases()).some(({ scope, name }) => scope === of.scope && name === of.name)) return undefined;
      const { target, files, found } = await archivesOf(of);
      if (wanted !== undefined && wanted !== target.name) return undefined;
      const newest = newestState(
        found.flatMap(({ stretches }) => stretches),
        { files, until },
      );
      return newest && { ...newest, target: target.name };
    },
    async fetch({ scope, name }, { until, mountPoint, isDrill = false }) {
      const plan = await planned({ scope, name }, until === undefined ? undefined : isoTime(until));
      const folder = join(staging, isDrill ? "drill" : "restore", scope, name);
      const limit = AbortSignal.timeout(limits.workMs);
      await bringDatabase({ ...plan, mountPoint, until, staging: folder, limit });
    },
    failing: () =>
      [...lanes.values()].flatMap(({ target, failing }) =>
        failing === undefined ? [] : [{ target, sinceAt: failing.sinceAt, error: failing.error }],
      ),
    async run(signal) {
      signal.addEventListener("abort", () => closing.abort(), { once: true });
      await gate.whenOpen(async () => {
        while (!signal.aborted) {
          const found = await databases().catch((error: unknown) => {
            log.warn("databases not listed", { error });
            return [];
          });
          for (const database of found) {
            void ship(database, "wal");
            void ship(database, "bases");
          }
          await clock.sleep(found.length === 0 ? limits.listMs : limits.lookMs, signal);
        }
      })(signal);
    },
  };
}
