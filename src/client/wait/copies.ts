import { type BackupRun, listBackupApps, listBackupRuns, runBackup } from "../../backups/api/backups.ts";
import { endedRuns, protectionOf } from "../../backups/api/protection.ts";
import { ApiError } from "../../base/wire/client.ts";
import { CommandFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import type { Context } from "../shell/command.ts";

const lookMs = 100;

/** Looks until there is an end to tell: what `look` answers first. */
export async function untilEnded<T>({ clock, signal }: Context, look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const end = await look();
    if (end !== undefined) return end;
    await clock.sleep(lookMs, signal);
    signal.throwIfAborted();
  }
}

/** Until each copy is there, or has failed. */
export async function copyNow(
  context: Context,
  query: { target: string | undefined; app: string | undefined },
): Promise<BackupRun[]> {
  const begun = await context.api.call(runBackup, { query });
  return untilEnded(context, async () => {
    const { runs } = await context.api.call(listBackupRuns, { query: { target: query.target } });
    return endedRuns(begun, runs);
  });
}

/** A last copy of each protected app that goes with its volumes, given as `kind/scope/name`. Fails where one has none. */
export async function copyLast(refs: readonly string[], context: Context): Promise<void> {
  const { apps } = await context.api.call(listBackupApps);
  const names = new Set(
    refs.map((ref) =>
      ref
        .replace(/[:,].*$/s, "")
        .split("/")
        .slice(-2)
        .join("/"),
    ),
  );
  const isGoing = ({ scope, name }: { scope: string; name: string }) => names.has(`${scope}/${name}`);
  const going = apps.filter((app) => protectionOf(app) !== "not protected" && isGoing(app));
  for (const { scope, name } of going) {
    const app = `${scope}/${name}`;
    context.terminal.note(`copying ${app} for the last time; --no-backup leaves that out`);
    const failed = await failureOf(app, context);
    if (failed === undefined) continue;
    throw new CommandFailure(
      `no last copy of ${app}, so nothing was deleted: ${failed}; --no-backup deletes all the same`,
    );
  }
}

async function failureOf(app: string, context: Context): Promise<string | undefined> {
  try {
    const runs = await copyNow(context, { app, target: undefined });
    const error = runs.find((run) => run.error !== undefined)?.error;
    return error === undefined ? undefined : printable(error);
  } catch (error) {
    if (error instanceof ApiError) return printable(error.message);
    throw error;
  }
}
