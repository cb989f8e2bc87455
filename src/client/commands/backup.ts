import {
  backupKey,
  type BackupRun,
  listBackupRuns,
  listSnapshots,
  newBackupKey,
  takeOver,
} from "../../backups/api/backups.ts";
import { secondsText } from "../../base/pure/duration.ts";
import type { Flag } from "../basics/arguments.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { tableText } from "../basics/table-text.ts";
import { answer, type Command, type CommandBody } from "../shell/command.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import { rowsOf } from "../shell/listing.ts";
import { noWords } from "../shell/words.ts";
import { bytesText } from "../text/stats-table.ts";
import { copyNow } from "../wait/copies.ts";
import { timeText } from "../text/time-text.ts";
import { drillCommand, drillsCommand } from "./backup/drill.ts";
import { carryOverCommand, repairCommand } from "./backup/repair.ts";
import { restoreCommand, restoresCommand } from "./backup/restore.ts";
import { targetCommands } from "./backup/target.ts";

const onlyTarget: Flag = { name: "target", value: "NAME", summary: "only this target" };

const commands: readonly Command[] = [
  {
    name: "target",
    summary: "list, add, test and remove the places where copies go to",
    usage: ["backup target"],
    flags: [],
    commands: targetCommands,
    run(context, args) {
      const [word] = args.words;
      if (word !== undefined)
        throw usageFailure(`unknown command "backup target ${word}": use list, add, test or remove`);
      return (targetCommands[0] as Command).run(context, args);
    },
  },
  {
    name: "now",
    summary: "copy the state and every protected volume to every target now",
    usage: ["backup now [SCOPE/NAME] [--target NAME]"],
    examples: ["backup now shop/db  only the volumes of this app"],
    flags: [onlyTarget],
    async run(context, args) {
      const [app, ...more] = args.words;
      noWords({ words: more });
      const data = { runs: await copyNow(context, { target: args.value("target"), app }) };
      const failed = data.runs.filter(({ error }) => error !== undefined);
      await answer(context, data, () => data.runs.map(runText).join("\n") || "there is no volume to copy yet");
      if (failed.length > 0) throw new CommandFailure(`${failed.length} of ${data.runs.length} copies failed`);
      return 0;
    },
  },
  {
    name: "runs",
    summary: "list the copies that were made or failed, newest first",
    usage: ["backup runs [--target NAME]"],
    flags: [onlyTarget],
    lists: rowsOf("runs", "target"),
    async run(context, args) {
      const data = await context.api.call(listBackupRuns, { query: { target: args.value("target") } });
      return answer(context, data, () => (data.runs.length === 0 ? noCopies : data.runs.map(runText).join("\n")));
    },
  },
  {
    name: "list",
    summary: "list the copies that the targets hold now",
    usage: ["backup list [--target NAME]"],
    flags: [onlyTarget],
    lists: rowsOf("snapshots", "id"),
    async run(context, args) {
      const data = await context.api.call(listSnapshots, { query: { target: args.value("target") } });
      const { style, width } = context.terminal;
      const rows = data.snapshots.map(({ target, id, at, what, damaged }) => {
        return [timeText(at), target, id.slice(0, 8), damaged ? `${what} (damaged)` : what];
      });
      const table = tableText([["TIME", "TARGET", "ID", "WHAT"], ...rows], { head: style.dim, width });
      const faults = data.unreachable.map(({ target, why }) => `${style.red(target)}: ${printable(why)}`);
      const shown = [...(rows.length > 0 ? [table] : faults.length === 0 ? [noCopies] : []), ...faults];
      answer(context, data, () => shown.join("\n"));
      return data.unreachable.length > 0 ? exitCodes.failed : exitCodes.done;
    },
  },
  restoreCommand,
  restoresCommand,
  drillCommand,
  drillsCommand,
  repairCommand,
  carryOverCommand,
  {
    name: "take-over",
    summary: "let this server act, and any other one of the same installation wait",
    usage: ["backup take-over [-y]"],
    detail: [
      "For a server that says that another one took its place. The other one stops running cron jobs",
      "and sending webhooks and mails within a minute of reaching a target; this one begins after that.",
    ],
    flags: [yesFlag],
    async run(context, args) {
      await assent("act for this installation, and make any other server of it wait?", args, context);
      const data = await context.api.call(takeOver, {});
      return answer(context, data, () => {
        const told = `generation ${data.number} is at ${data.targets.join(", ")}`;
        return `${told}; this server acts from ${timeText(data.acts_at)} on`;
      });
    },
  },
  {
    name: "key",
    summary: "print the recovery key, which opens every copy of this server",
    usage: ["backup key [--new]"],
    detail: [
      "Keep it outside of this server: without it, no copy can be read. Who has it can read every copy.",
      "--new is for a key that leaked: copies go to a new place at each target, which only the new key opens.",
      "Before that, write the old one to another file: the old copies need it, and it is not printed again.",
    ],
    flags: [{ name: "new", summary: "make a new key, and copy everything again" }, yesFlag],
    async run(context, args) {
      if (args.on("new")) {
        const { terminal } = context;
        terminal.note(
          "the key of now will not be printed again, and its copies need it: berth backup key > old-key.txt",
        );
        await assent("copy everything again, to places that only a new recovery key opens?", args, context);
        const made = await context.api.call(newBackupKey, {});
        terminal.note("next, to keep the old copies: berth backup carry-over TARGET < old-key.txt");
        terminal.note(
          "the leaked key opens the folder with its part before the dot as name, at each target, until you remove that",
        );
        return answer(context, made, () => made.key);
      }
      const data = await context.api.call(backupKey, {});
      return answer(context, data, () => data.key);
    },
  },
];

export const backupCommand: CommandBody = {
  usage: ["backup FILE  (on the server's own machine)"],
  examples: [
    "backup target add disk /mnt/disk/copies  copies the state, and volumes of protected apps",
    "backup key  print what opens the copies; keep it elsewhere",
  ],
  detail: [
    "berth backup COMMAND --help says more. A word with / or . is a FILE: all state goes into it, with",
    "the server running or stopped. berth backup ./FILE --help names the flags of that form.",
  ],
  flags: [],
  commands,
  run: (_, args) => {
    const [word] = args.words;
    throw usageFailure(
      `unknown command "backup ${word ?? ""}": use target, now, list, runs, restore, restores, drill, drills, repair, carry-over, key or take-over, or a FILE with its path`,
    );
  },
};

const noCopies = "no copies yet; where they go to: berth backup target list; to make one: berth backup now";

function runText({
  target,
  what,
  started_at: at,
  snapshot,
  bytes = 0,
  added = 0,
  paused_ms: paused,
  error,
}: BackupRun): string {
  if (error !== undefined) return `${timeText(at)}  ${target}  ${what}  failed: ${printable(error)}`;
  // Each image is copied once.
  if (snapshot === undefined) return `${timeText(at)}  ${target}  ${what}  nothing new`;
  const pause = paused === undefined ? "" : `, paused for ${secondsText(paused)}`;
  const size = `${bytesText(bytes)}, ${bytesText(added)} added at the target${pause}`;
  return `${timeText(at)}  ${target}  ${what}  ${snapshot.slice(0, 8)}  ${size}`;
}
