import { ownsMachine, type Principal } from "../../access/principal.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { Failure } from "../../base/wire/failure.ts";
import { bodyReader } from "../../base/wire/read-body.ts";
import {
  backupKey,
  BackupTargetBody,
  deleteBackupTarget,
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
import type { Backups } from "../service/create.ts";
import type { Databases } from "../service/databases.ts";
import { beginRestore, listRestores, planRestore, RestoreBody, undoRestore } from "../api/restore.ts";
import type { Restores } from "../service/restore.ts";

const readRestoreBody = bodyReader({ path: beginRestore.path, body: RestoreBody });
const readUndoBody = bodyReader({ path: undoRestore.path, body: undoRestore.body });
const readTargetBody = bodyReader({ path: putBackupTarget.path, body: BackupTargetBody });

export function mountDatabases(plane: Plane, databases: Databases): void {
  mount(plane, databasePoints, ({ query, by }) => {
    owner(by);
    return databases.points(named(query));
  });
  mount(plane, planDatabaseRestore, ({ query, by }) => {
    owner(by);
    return databases.plan(named(query), query.at);
  });
  mount(plane, bringDatabase, ({ query, body, by }) => {
    owner(by);
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
export function mountBackups(plane: Plane, backups: Backups, restores: Restores): void {
  mount(plane, listBackupTargets, ({ by }) => {
    owner(by);
    return { targets: backups.listTargets() };
  });
  mount(plane, putBackupTarget, ({ params, body, actor, by }) => {
    owner(by);
    return backups.putTarget(params.name, readTargetBody(body), actor);
  });
  mount(plane, testBackupTarget, ({ params, by }) => {
    owner(by);
    return backups.testTarget(params.name);
  });
  mount(plane, deleteBackupTarget, ({ params, actor, by }) => {
    owner(by);
    return backups.removeTarget(params.name, actor);
  });
  mount(plane, backupKey, async ({ actor, by }) => {
    owner(by);
    return { key: await backups.showKey(actor) };
  });
  mount(plane, newBackupKey, ({ actor, by }) => {
    owner(by);
    return backups.newKey(actor);
  });
  mount(plane, runBackup, ({ query: { target, app }, by }) => {
    owner(by);
    return backups.runNow(target, app);
  });
  mount(plane, listBackupRuns, ({ query: { target }, by }) => {
    owner(by);
    return { runs: backups.listRuns(target) };
  });
  mount(plane, listSnapshots, ({ query: { target }, by }) => {
    owner(by);
    return backups.snapshots(target);
  });
  mount(plane, takeOver, ({ actor, by }) => {
    owner(by);
    return backups.takeOver(actor);
  });
  mountRestores(plane, restores);
}

function mountRestores(plane: Plane, restores: Restores): void {
  mount(plane, planRestore, ({ body, by }) => {
    owner(by);
    return restores.plan(readRestoreBody(body));
  });
  mount(plane, beginRestore, ({ body, actor, by }) => {
    owner(by);
    return restores.begin(readRestoreBody(body), actor);
  });
  mount(plane, listRestores, ({ query: { group }, by }) => {
    owner(by);
    return restores.list(group);
  });
  mount(plane, undoRestore, ({ body, actor, by }) => {
    owner(by);
    return restores.undo(readUndoBody(body), actor);
  });
}

function owner(by: Principal): void {
  if (!ownsMachine(by)) throw new Failure("forbidden", "copies of the server's state are for its operators");
}
