import { planPrune, prune, type PrunePlan } from "../../orchestration/api/disk.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { requireYes } from "../shell/ask.ts";
import { printable } from "../basics/style.ts";
import { noWords } from "../shell/words.ts";
import { isRemovable, leftoverText } from "../text/leftovers.ts";
import { bytesText } from "../text/stats-table.ts";

export const pruneCommand: CommandBody = {
  usage: ["prune [--dry-run] [-y]"],
  examples: ["prune --dry-run  what would be removed, and how many bytes", "prune  the same, then remove it"],
  detail: [
    "Removes unused build cache, and images that the server brought and that no container and no",
    "rollback needs. Volumes, config and folders stay: berth delete SCOPE/NAME --prune removes them.",
  ],
  flags: [
    { name: "dry-run", summary: "only show what would be removed" },
    { name: "yes", short: "y", summary: "do not ask" },
  ],
  async run(context, args) {
    noWords(args);
    const plan = await context.api.call(planPrune);
    const isNothing = plan.images.length === 0 && plan.build_cache_bytes === 0;
    if (args.on("dry-run") || isNothing) {
      return answer(context, plan, () => planText(plan));
    }
    if (!context.json) context.terminal.note(planText(plan));
    await requireYes(context, { text: `Remove ${bytesText(plan.bytes)}?`, yes: args.on("yes") });
    return remove(context);
  },
};

async function remove(context: Context): Promise<number> {
  const done = await context.api.call(prune);
  return answer(
    context,
    done,
    () =>
      `removed ${done.images.length} ${done.images.length === 1 ? "image" : "images"} and ${bytesText(done.build_cache_bytes)} of build cache`,
  );
}

function planText({ images, build_cache_bytes: cache, bytes, leftovers }: PrunePlan): string {
  const removed = [
    ...images.map(({ ref, bytes: size }) => `- image ${printable(ref)}  ${bytesText(size)}`),
    ...(cache === 0 ? [] : [`- unused build cache  ${bytesText(cache)}`]),
  ];
  const left = leftovers.filter(isRemovable).map((leftover) => `  ${printable(leftoverText(leftover))}`);
  const kept = leftovers.flatMap(({ kept: volumes }) => volumes.map((text) => `  volume ${printable(text)}`));
  return [
    ...(removed.length === 0 ? ["nothing to remove"] : [...removed, `about ${bytesText(bytes)} in all`]),
    ...(left.length === 0 ? [] : ["stays, until berth delete SCOPE/NAME --prune:", ...left]),
    ...(kept.length === 0 ? [] : ["stays, until you remove it with Docker:", ...kept]),
  ].join("\n");
}
