import { type CommandHandler, type Outcome, usage } from "../kit.ts";
import { noMoreThan, parseArguments, referenceText, wholeNumber } from "./arguments.ts";
import { cancelledText } from "./backups.ts";
import { columns } from "./bytes.ts";
import { tryTool } from "./cluster.ts";
import type { BackupRun } from "./controller.ts";
import { loadServer, type ServerKind } from "./server.ts";

/** `backups:logs SCOPE/NAME [RUN]`: what backups, checks, restores and imports said and came to; of one run, or of the newest. */
export function backupLogsCommand(kind: ServerKind): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { values: ["limit"] });
    noMoreThan(args.words, 2);
    const [, wanted] = args.words;
    const most = wholeNumber(args.values.limit, "limit") ?? 5;
    const cluster = await loadServer(call, kind, args.words[0]);
    const runs = await cluster.controller.backupRuns(cluster.of);
    const shown = wanted === undefined ? runs.slice(0, most) : runs.filter(({ id }) => id === wanted);
    if (wanted !== undefined && shown.length === 0) throw usage(`no run "${wanted}"; see them with: backups:logs`);
    if (shown.length === 0) return { message: `no backup of ${referenceText(cluster.of)} is on record` };
    return { message: shown.map(runText).join("\n\n") };
  };
}

function runText({ id, what, at, status, error, tail }: BackupRun): string {
  const lines = error === "" ? tail : [...tail, `error: ${error}`];
  // A command that fails is one that failed for the server, whatever ended it.
  const became = status === "failed" && error.includes(cancelledText) ? "cancelled" : status;
  return [columns([[at, what, became, id]]), ...lines.map((line) => `  ${line}`)].join("\n");
}

/** `backups:cancel SCOPE/NAME`: ends the backups that are being taken, by the schedule and by hand. */
export function cancelBackupsCommand(kind: ServerKind): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { switches: ["yes"] });
    noMoreThan(args.words, 1);
    const cluster = await loadServer(call, kind, args.words[0]);
    const runs = await cluster.controller.backupRuns(cluster.of);
    const scheduled = runs.filter(
      ({ what, status }) => what === "schedule" && (status === "running" || status === "pending"),
    );
    for (const { id } of scheduled) await cluster.controller.cancelRun(id);
    let ended = scheduled.length;
    for (const pod of cluster.pods.filter(({ running }) => running)) {
      const { exitCode, stdout } = await tryTool(cluster, { pod, args: ["cancel_backups"] });
      if (exitCode === 0) ended += Number(stdout.trim() || "0");
    }
    if (ended === 0) return { message: `no backup of ${referenceText(cluster.of)} is being taken` };
    return { message: `ended ${ended} backup${ended === 1 ? "" : "s"}; those that are complete stay` };
  };
}
