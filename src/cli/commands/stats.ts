import { answer, type Command } from "../command.ts";
import { ageOf } from "../duration.ts";
import { exitCodes, usageFailure } from "../failures.ts";
import { findStats } from "../stats.ts";
import { statsTable } from "../stats-table.ts";

export const statsCommand: Command = {
  name: "stats",
  summary: "show what pods use of CPU and memory",
  usage: ["stats [KIND|SCOPE|SCOPE/NAME[.REPLICA]] [--orphans] [--live]"],
  detail: ["100% CPU is one core, averaged since the reading before; see also: berth top"],
  flags: [
    { name: "orphans", summary: "also pods whose manifest is gone" },
    { name: "live", summary: "take a reading now instead of the last one" },
  ],
  async run(context, args) {
    const [reference, ...more] = args.words;
    if (more.length > 0) throw usageFailure("stats takes one KIND, SCOPE or SCOPE/NAME");
    const { terminal, clock } = context;
    const options = { orphans: args.on("orphans"), live: args.on("live") };
    const report = await findStats(context.api, reference, options);
    if (!context.json && report.pods.length > 0) {
      terminal.note(terminal.noteStyle.dim(`read ${ageOf(report.sampled_at, clock.now())} ago`));
    }
    answer(context, report, () => (report.pods.length === 0 ? "no running pods" : statsTable(report.pods, terminal)));
    return exitCodes.done;
  },
};
