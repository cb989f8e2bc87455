import type { Arguments } from "../basics/arguments.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { type Deleted, type Deletion, fileDeletion, kindDeletion, referenceDeletion } from "./deletion.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { explained, fileFlag, formatFlag, manifestsOf } from "../shell/manifest-flags.ts";
import { warn } from "../shell/progress-answer.ts";
import { nameMeant } from "../shell/named.ts";
import { printable } from "../basics/style.ts";
import { noWords } from "../shell/words.ts";
import { copyLast } from "../wait/copies.ts";
import { lostUses } from "../text/uses.ts";

export const deleteCommand: CommandBody = {
  usage: ["delete SCOPE | SCOPE/NAME | SCOPE/NAME.ORDINAL", "delete KIND SCOPE/NAME", "delete -f PATH…"],
  examples: [
    "delete shop/web  one app; its config and volumes stay",
    "delete shop --prune  a whole scope, with all its data",
    "delete -f app.yaml  what a file declares",
  ],
  detail: [
    "Asks first; without a terminal it needs -y. Without --prune nothing is lost for good: apply brings",
    "it back with its config and volumes, and `berth get leftovers` lists them. With --prune they go,",
    "also those of what was deleted before. SCOPE/NAME.ORDINAL replaces one pod of a statefulset.",
  ],
  flags: [
    fileFlag,
    formatFlag,
    { name: "prune", summary: "wipe config, app folder and volumes too; they cannot be brought back" },
    { name: "no-backup", summary: "with --prune: make no last copy of apps with the field backup" },
    { ...yesFlag, aliases: ["auto-approve"] },
    { name: "dry-run", summary: "show what would go and stop" },
    { name: "ignore-not-found", summary: "what is not there is no error" },
  ],
  async run(context, args) {
    const deletion = await deletionOf(args, context);
    await requireThere(deletion, args, context);
    const lost = deletion.goes.length === 0 ? [] : await lostUses(context.api, deletion.goes);
    const lines = planLines(deletion, args.on("prune"), context);
    for (const line of lines) context.json ? context.terminal.note(line) : context.terminal.out(line);
    warn(context, lost);
    if (args.on("dry-run")) {
      if (context.json) answer(context, { deletes: deletion.goes, missing: deletion.missing, dry_run: true }, () => "");
      return exitCodes.done;
    }
    if (deletion.goes.length === 0 && !args.on("prune")) {
      if (context.json) answer(context, { deleted: [] }, () => "");
      return exitCodes.done;
    }
    await assent(args.on("prune") ? "delete and wipe this for good?" : "delete this?", args, context);
    if (args.on("prune") && !args.on("no-backup")) await copyLast(deletion.goes, context);
    const deleted = await deletion.run();
    const warnings = deleted.warnings.filter((text) => !lost.includes(text));
    return report({ ...deleted, warnings }, deletion, context);
  },
};

async function deletionOf(args: Arguments, context: Context): Promise<Deletion> {
  const setup = { api: context.api, prune: args.on("prune") };
  const [first, second, ...more] = args.words;
  if (args.values("file").length > 0) {
    const set = await manifestsOf(args, context, "delete");
    return explained(set, () => fileDeletion(set, setup));
  }
  if (first === undefined) throw usageFailure("say what to delete: SCOPE/NAME, SCOPE, KIND SCOPE/NAME, or -f FILE");
  noWords({ words: more });
  return second === undefined ? referenceDeletion(first, setup) : kindDeletion(first, second, setup);
}

/**
 * A name that is not there is an error. Files may be deleted twice; and with --prune the server may still have what a
 * resource left behind.
 */
async function requireThere({ goes, missing }: Deletion, args: Arguments, context: Context): Promise<void> {
  if (goes.length > 0 || args.on("prune") || args.on("ignore-not-found") || args.values("file").length > 0) return;
  const meant = await nameMeant(missing[0] ?? "", context);
  throw new CommandFailure(`${missing.join(", ")} is not there${meant || "; see: berth get all"}`);
}

function planLines({ goes, missing }: Deletion, prune: boolean, { terminal }: Context): string[] {
  const { style } = terminal;
  const wiped = "their config, files and volumes are wiped too, for good";
  const kept = "config, files and volumes stay; --prune would wipe them";
  return [
    ...goes.map((ref) => style.red(`- ${ref}`)),
    ...missing.map((ref) => style.dim(`  ${ref} is not there`)),
    ...(goes.length === 0 ? [] : [prune ? style.red(wiped) : style.dim(kept)]),
  ];
}

function report({ data, volumes, kept, warnings, errors }: Deleted, { goes }: Deletion, context: Context): number {
  const { terminal } = context;
  answer(context, data, () => {
    const what = goes.length === 1 ? exceptKept(goes[0] ?? "", kept) : `${goes.length} resources`;
    const told = [...volumes.map((volume) => `removed volume ${volume}`), ...kept.map((text) => `kept volume ${text}`)];
    return [`deleted ${what}`, ...told.map(printable)].join("\n");
  });
  warn(context, warnings);
  for (const error of errors) terminal.note(`${terminal.noteStyle.red("✗")} ${printable(error)}`);
  return errors.length > 0 ? exitCodes.failed : exitCodes.done;
}

/** What is left of a resource is named part by part: the text must not say of kept parts that they were deleted. */
function exceptKept(what: string, kept: readonly string[]): string {
  const [left = "", ...parts] = what.split(": ");
  return parts.length === 0 || kept.length === 0 ? what : `${left}, except what is kept`;
}
