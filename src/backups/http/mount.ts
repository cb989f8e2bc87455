import { isFromAfar, requireAllApps, sees } from "../../access/apps.ts";
import { ownsMachine, type Principal } from "../../access/principal.ts";
import { type Answer, mount, type Plane } from "../../base/http/mount.ts";
import type { Endpoint } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import { bodyReader } from "../../base/wire/read-body.ts";
import {
  backupKey,
  BackupTargetBody,
  deleteBackupTarget,
  listBackupApps,
  listBackupRuns,
  listBackupTargets,
  listSnapshots,
  newBackupKey,
  putBackupTarget,
  runBackup,
  takeOver,
  testBackupTarget,
} from "../api/backups.ts";
import { bringDatabase, databasePoints, planDatabaseRestore, RestoreDatabaseBody } from "../api/databases.ts";
import { beginDrill, DrillBody, listDrills } from "../api/drills.ts";
import { beginRehearsal, listRehearsals } from "../api/rehearsals.ts";
import { beginRepair, listRepairs, RepairBody } from "../api/repairs.ts";
import type { Rehearsals } from "../service/rehearsals.ts";
import type { Drills } from "../service/drills.ts";
import type { Repairs } from "../service/repairs.ts";
import type { Backups } from "../service/create.ts";
import type { Databases } from "../service/databases.ts";
import { beginRestore, listRestores, planRestore, RestoreBody, undoRestore } from "../api/restore.ts";
import type { Restores } from "../service/restore.ts";

const readDrillBody = bodyReader({ path: beginDrill.path, body: DrillBody });
const readRestoreBody = bodyReader({ path: beginRestore.path, body: RestoreBody });
const readUndoBody = bodyReader({ path: undoRestore.path, body: undoRestore.body });
const readRepairBody = bodyReader({ path: beginRepair.path, body: RepairBody });
const readTargetBody = bodyReader({ path: putBackupTarget.path, body: BackupTargetBody });

export function mountDatabases(plane: Plane, databases: Databases): void {
  mountOwned(plane, databasePoints, ({ query }) => databases.points(named(query)));
  mountOwned(plane, planDatabaseRestore, ({ query }) => databases.plan(named(query), query.at));
  mountOwned(plane, bringDatabase, ({ query, body }) => {
    const { at } = readDatabaseBody(body);
    const [, scope, name] = /^([^/]+)\/([^/]+)$/.exec(query.into ?? "") ?? [];
    return databases.bring(named(query), { at, into: named({ scope, name }, "into") });
  });
}

/** Its parts become folders: they are names of resources and nothing else. */
function named({ scope, name }: { scope?: string | undefined; name?: string | undefined }, where = "scope and name") {
  const form = /^[a-z0-9]([a-z0-9.-]{0,100}[a-z0-9])?$/;
  if (scope !== undefined && name !== undefined && form.test(scope) && form.test(name)) return { scope, name };
  throw new Failure("invalid", `${where}: name a database as SCOPE and NAME`);
}

const readDatabaseBody = bodyReader({ path: bringDatabase.path, body: RestoreDatabaseBody });

/** Copies hold every secret of the server, and a target is a way out of it: they are for those who own the machine. */
export function mountBackups(
  plane: Plane,
  backups: Backups,
  {
    restores,
    drills,
    rehearsals,
    repairs,
  }: {
    restores: Restores;
    drills: Drills;
    rehearsals: Rehearsals<{ by: Principal; actor: string }>;
    repairs: Repairs;
  },
): void {
  mount(plane, listBackupApps, ({ by }) => {
    const seen = backups.listApps().filter((app) => sees(by, app));
    return { apps: seen.map((app) => ({ ...app, drill: drills.of(app) })) };
  });
  mountRead(plane, listBackupTargets, () => ({ targets: backups.listTargets() }));
  mountOwned(plane, putBackupTarget, ({ params, body, actor }) =>
    backups.putTarget(params.name, readTargetBody(body), actor),
  );
  mountOwned(plane, testBackupTarget, ({ params }) => backups.testTarget(params.name));
  mountOwned(plane, deleteBackupTarget, ({ params, actor }) => backups.removeTarget(params.name, actor));
  mountOwned(plane, backupKey, async ({ actor }) => ({ key: await backups.showKey(actor) }));
  mountOwned(plane, newBackupKey, ({ actor }) => backups.newKey(actor));
  mountOwned(plane, runBackup, ({ query: { target, app } }) => backups.runNow(target, app));
  mountRead(plane, listBackupRuns, ({ query: { target } }) => ({ runs: backups.listRuns(target) }));
  mountRead(plane, listSnapshots, ({ query: { target } }) => backups.snapshots(target));
  mountOwned(plane, takeOver, ({ actor }) => backups.takeOver(actor));
  mountOwned(plane, beginRepair, ({ params, body, actor }) => repairs.begin(params.name, readRepairBody(body), actor));
  mountOwned(plane, listRepairs, () => repairs.list());
  mountRestores(plane, restores);
  mountOwned(plane, beginDrill, ({ body, actor }) => drills.begin(readDrillBody(body), actor));
  mountRead(plane, listDrills, () => drills.list());
  mountOwned(plane, beginRehearsal, ({ body, actor, by }) => rehearsals.begin(body, { by, actor }));
  // They have what commands printed about real data.
  mountOwned(plane, listRehearsals, () => rehearsals.list());
}

function mountRestores(plane: Plane, restores: Restores): void {
  mountOwned(plane, planRestore, ({ body }) => restores.plan(readRestoreBody(body)));
  mountOwned(plane, beginRestore, ({ body, actor }) => restores.begin(readRestoreBody(body), actor));
  mountRead(plane, listRestores, ({ query: { group } }) => restores.list(group));
  mountOwned(plane, undoRestore, ({ body, actor }) => restores.undo(readUndoBody(body), actor));
}

/** That there are copies, and how they went: for those who may see the machine. The plane of tokens has asked for the scope. */
function mountRead<E extends Endpoint>(plane: Plane, endpoint: E, answer: Answer<E>): void {
  mount(plane, endpoint, (call) => {
    if (isFromAfar(call.by)) requireAllApps(call.by, "copies are of the whole server");
    else requireOwner(call.by);
    return answer(call);
  });
}

/** Like `mount`; fails `forbidden` for everybody else. */
function mountOwned<E extends Endpoint>(plane: Plane, endpoint: E, answer: Answer<E>): void {
  mount(plane, endpoint, (call) => {
    requireOwner(call.by);
    return answer(call);
  });
}

function requireOwner(by: Principal): void {
  if (!ownsMachine(by)) throw new Failure("forbidden", "copies of the server's state are for its operators");
}
