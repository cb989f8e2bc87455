import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { sha256Hex } from "../base/pure/digest.ts";
import { copyInto, withDatabase } from "../base/sqlite/database.ts";
import { type Layout, layoutOf } from "../base/disk/layout.ts";
import { Failure } from "../base/wire/failure.ts";
import type { Log } from "../base/words/log.ts";
import { folders } from "../backups/restic/folders.ts";
import { backupLimits } from "../config/backup-limits.ts";
import { complainNow } from "../client/basics/output.ts";
import { mergeSegments, stageSegments } from "../observability/store/logs/stage.ts";
import { errorText, quietEnvironment } from "./push/git.ts";
import { staged } from "./staging.ts";

type Places = Pick<Layout, "root" | "logs" | "copies" | "metricsDatabase" | "tracesDatabase">;

const databasesOf = ({ metricsDatabase, tracesDatabase }: Places) => [metricsDatabase, tracesDatabase];
const linesOf = ({ logs }: Pick<Places, "logs">) => join(logs, "pods");
const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Changes when something is stored; empty where nothing is. */
export function logsDigest(places: Places): string {
  const all = [...databasesOf(places).flatMap((path) => [path, `${path}-wal`]), linesOf(places)];
  const found = all.map((path) => statSync(path, { throwIfNoEntry: false })).filter((one) => one !== undefined);
  return found.length === 0 ? "" : sha256Hex(found.map(({ mtimeMs, size }) => `${mtimeMs} ${size}`).join("\n"));
}

/** A copy of stored logs, metrics and traces, made by a process of its own: that takes seconds for a large database. */
export async function stageLogs(places: Places, self: readonly string[]) {
  const folder = stagedFolder(places);
  return staged(folder, async () => {
    const { freeBytes } = await folders.space(folder);
    const bytes = databasesOf(places).reduce((sum, path) => sum + sizeOf(path) + sizeOf(`${path}-wal`), 0);
    if (bytes + backupLimits.restoreSpareBytes > freeBytes)
      throw new Failure("storage_full", "the disk is too full for a copy of metrics and traces; free some space");
    const child = Bun.spawn(["nice", "-n", "10", ...self, "copy-logs", "--root", places.root], {
      ...{ env: quietEnvironment(), stdin: "ignore", stdout: "ignore", stderr: "pipe" },
    });
    const said = await errorText(child.stderr);
    if ((await child.exited) !== 0) throw new Failure("unavailable", `logs and figures cannot be copied: ${said}`);
  });
}

const stagedFolder = ({ copies }: Pick<Places, "copies">) => join(copies, "logs");

/** `berth copy-logs --root DIR`: the process of `stageLogs`, which has made the folder. */
export async function copyLogsCommand(args: readonly string[]): Promise<number> {
  const [flag, root, ...more] = args;
  if (flag !== "--root" || root === undefined || more.length > 0) {
    complainNow(
      "usage: berth copy-logs --root DIR\n\nThe server runs this for each copy of stored logs, metrics and traces.",
    );
    return 2;
  }
  const layout = layoutOf(root);
  const folder = stagedFolder(layout);
  for (const path of databasesOf(layout))
    if (sizeOf(path) > 0) withDatabase(path, (db) => copyInto(db, join(folder, basename(path))));
  stageSegments(linesOf(layout), join(folder, "pods"));
  return 0;
}

/** Where a copy waits for the next start of the server, which then keeps the id of the copy beside it. */
const restoredLogs = ({ copies }: Pick<Places, "copies">) => join(copies, "restored-logs");
const idFile = "id";
const idPath = (places: Pick<Places, "copies">) => `${restoredLogs(places)}.${idFile}`;

/** Lays a copy ready for the next start of the server. False where that copy was taken up already. */
export async function layLogs(places: Places, id: string, fetch: (folder: string) => Promise<void>): Promise<boolean> {
  const [folder, making] = [restoredLogs(places), `${restoredLogs(places)}.new`];
  if (existsSync(idPath(places)) && readFileSync(idPath(places), "utf8") === id) return false;
  for (const old of [folder, making]) await rm(old, { recursive: true, force: true });
  await mkdir(making, { recursive: true, mode: 0o700 });
  await fetch(making);
  writeFileSync(join(making, idFile), id);
  renameSync(making, folder);
  return true;
}

/**
 * Takes up a copy that `berth server restore --logs` has laid ready, before anything of it is opened. Metrics and traces take
 * the place of what is there, which is kept beside it; lines come to those that are there. A kill in the middle loses nothing.
 */
export async function takeUpLogs(places: Places, log: Log): Promise<void> {
  const folder = restoredLogs(places);
  if (!existsSync(folder)) return;
  try {
    for (const path of databasesOf(places)) {
      const copy = join(folder, basename(path));
      if (!existsSync(copy)) continue;
      for (const end of ["-shm", "-wal", ""])
        if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${path}.before-restore${end}`);
      renameSync(copy, path);
    }
    mergeSegments(join(folder, "pods"), linesOf(places));
    // Gone where a start was killed while it removed the rest.
    if (existsSync(join(folder, idFile))) renameSync(join(folder, idFile), idPath(places));
    await rm(folder, { recursive: true, force: true });
    log.info("logs, metrics and traces are restored");
  } catch (error) {
    // The apps matter more. The next start tries again.
    log.error("logs, metrics and traces not restored", { folder, error });
  }
}
