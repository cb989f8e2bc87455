import { listBackupTargets } from "../../../backups/api/backups.ts";
import { beginRepair, type DamagedCopy, listRepairs, type Repair } from "../../../backups/api/repairs.ts";
import { CommandFailure, usageFailure } from "../../basics/failures.ts";
import { printable } from "../../basics/style.ts";
import { assent, requireYes, yesFlag } from "../../shell/ask.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { optionalWord } from "../../shell/words.ts";
import { timeText } from "../../text/time-text.ts";
import { untilEnded } from "../../wait/copies.ts";

export const repairCommand: Command = {
  name: "repair",
  summary: "find what a target has lost, copy it again as far as it is still here, and list the rest",
  usage: ["backup repair [TARGET] [--dry-run] [-y]"],
  examples: ["backup repair offsite  after a check of the target failed"],
  detail: [
    "Looks first, and asks. A repair rebuilds the index, and copies the state and every protected volume",
    "to the target again, whole. Copies that are damaged all the same are listed, with what is lost in",
    "them, and are never taken for the newest ones. It then asks whether to remove them: until they are",
    "removed, each check of the target fails, and no old data leaves it. --yes says yes to both.",
  ],
  flags: [{ name: "dry-run", summary: "only look; the exit code is 1 where something is lost" }, yesFlag],
  async run(context, args) {
    const target = optionalWord(args, "name one target") ?? (await onlyTarget(context));
    const found = await done(context, target, "look");
    if (isWhole(found)) return answer(context, found, () => `nothing is lost at ${target}`);
    context.terminal.note(lostText(found));
    if (args.on("dry-run")) {
      answer(context, found, () => "");
      throw new CommandFailure(`${target} has lost data; to repair it: berth backup repair ${target}`);
    }
    await assent(`rebuild the index of ${target}, and copy everything to it again?`, args, context);
    const repaired = await done(context, target, "repair");
    const failed = repaired.copies.filter(({ error }) => error !== undefined);
    for (const { what, error } of failed) context.terminal.note(`${what} was not copied: ${printable(error ?? "")}`);
    if (isWhole(repaired)) return answer(context, repaired, () => `${target} is whole again: no copy is damaged`);
    context.terminal.note(lostText(repaired));
    if (repaired.damaged.length === 0) throw new CommandFailure(`${target} is not whole: see docs/backups.md`);
    if (failed.length > 0)
      throw new CommandFailure(`${failed.length} new copies failed, so no damaged one is removed; try again`);
    await requireYes(context, {
      text: `remove ${repaired.damaged.length === 1 ? "this" : "these"} ${counted(repaired.damaged.length)} from ${target} for good?`,
      yes: args.on("yes"),
      otherwise: "the new copies are there, and the damaged ones stay",
    });
    const removed = await done(context, target, "remove");
    await answer(context, removed, () => `removed ${counted(removed.removed ?? 0)} from ${target}`);
    if (!isWhole(removed)) throw new CommandFailure(`${target} is not whole: ${printable(removed.faults.join("; "))}`);
    return 0;
  },
};

export const carryOverCommand: Command = {
  name: "carry-over",
  summary: "bring the copies that an earlier recovery key opens to the repository of today",
  usage: ["backup carry-over TARGET"],
  examples: ["backup carry-over offsite < old-key.txt  after berth backup key --new"],
  detail: [
    "The earlier key comes on stdin. Each copy keeps its time; the old repository stays as it is. One",
    "copy is brought after the other, and other copies go on between them. After an interruption, the",
    "same command goes on with what is missing. Needs restic 0.14 or newer.",
  ],
  flags: [],
  async run(context, args) {
    const target = optionalWord(args, "name one target");
    if (target === undefined) throw usageFailure("name the target, as berth backup target list shows it");
    const key = (await context.stdin()).trim();
    if (key === "")
      throw usageFailure("the earlier recovery key is missing: give it on stdin, for example: < old-key.txt");
    const over = await done(context, target, "carry_over", key);
    const lines = over.copies.map(({ what, at = "", error }) => {
      const copy = `${what} of ${timeText(at)}`;
      return error === undefined ? copy : `${copy} was not brought: ${printable(error)}`;
    });
    await answer(context, over, () => lines.join("\n") || "every copy is there already");
    const failed = over.copies.filter(({ error }) => error !== undefined);
    if (failed.length > 0)
      throw new CommandFailure(`${failed.length} of ${over.copies.length} copies were not brought`);
    return 0;
  },
};

const isWhole = ({ faults, damaged }: Repair) => faults.length + damaged.length === 0;
const counted = (copies: number) => (copies === 1 ? "1 damaged copy" : `${copies} damaged copies`);

async function onlyTarget(context: Context): Promise<string> {
  const { targets } = await context.api.call(listBackupTargets, {});
  const failing = targets.filter(({ check_error: error }) => error !== undefined);
  const [one, more] = failing.length === 1 ? failing : targets;
  if (one === undefined || more !== undefined)
    throw usageFailure("name the target to repair, as berth backup target list shows it");
  return one.name;
}

/** Begins a step, and answers with how it ended. */
async function done(context: Context, name: string, step: Repair["step"], key?: string): Promise<Repair> {
  const { id } = await context.api.call(beginRepair, { params: { name }, body: { step, key } });
  let doing: string | undefined;
  const repair = await untilEnded(context, async () => {
    const found = (await context.api.call(listRepairs, {})).repairs.find((one) => one.id === id);
    if (found === undefined) throw new CommandFailure("the repair was cut off: the server was stopped; repeat it");
    if (found.doing !== undefined && found.doing !== doing) context.terminal.note(`${name}: ${found.doing}`);
    doing = found.doing;
    return found.ended_at === undefined ? undefined : found;
  });
  if (repair.error !== undefined) throw new CommandFailure(printable(repair.error));
  return repair;
}

function lostText({ faults, damaged }: Repair): string {
  return [...faults.map((fault) => printable(fault)), ...damaged.flatMap(copyLines)].join("\n");
}

function copyLines({ id, at, what, missing, missing_count: count }: DamagedCopy): string[] {
  const shown = missing.map((path) => `  ${path === "/" ? "/ (folders at its top)" : printable(path)}`);
  const more = count > missing.length ? [`  and ${count - missing.length} more`] : [];
  return [`${what} of ${timeText(at)} (${id.slice(0, 8)}) cannot be restored whole; lost in it:`, ...shown, ...more];
}
