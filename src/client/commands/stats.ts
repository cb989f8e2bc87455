import { answer, type CommandBody } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
import { requireNamed } from "../shell/named.ts";
import { findStats } from "../wait/stats.ts";
import { statsTable } from "../text/stats-table.ts";
import { rowsOf } from "../shell/listing.ts";

export const statsCommand: CommandBody = {
  usage: ["stats [KIND|SCOPE|SCOPE/NAME[.REPLICA]] [--orphans]"],
  examples: ["stats  all pods", "stats shop/web  the pods of one app"],
  detail: ["100% CPU is one core. berth top goes on showing the figures."],
  flags: [{ name: "orphans", summary: "also pods whose manifest is gone" }],
  groups: true,
  lists: rowsOf("pods", "container_name"),
  async run(context, args) {
    const [reference, ...more] = args.words;
    if (more.length > 0) throw usageFailure("stats takes one KIND, SCOPE or SCOPE/NAME");
    const report = await findStats(context.api, reference, { orphans: args.on("orphans") });
    const { pods } = report;
    if (pods.length === 0) await requireNamed(reference, context);
    return answer(context, report, () => (pods.length === 0 ? "no running pods" : statsTable(pods, context.terminal)));
  },
};
