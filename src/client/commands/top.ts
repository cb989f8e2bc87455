import type { Stats } from "../../orchestration/api/stats.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
import { requireNamed } from "../shell/named.ts";
import { findStats, type StatsReport } from "../wait/stats.ts";
import { statsTable } from "../text/stats-table.ts";
import { watch } from "../shell/watch.ts";

export const topCommand: CommandBody = {
  usage: ["top [KIND|SCOPE|SCOPE/NAME]"],
  examples: ["top  all pods, the busiest first", "top shop  the pods of a scope"],
  detail: ["On a terminal top goes on until Ctrl-C; through a pipe it prints once."],
  flags: [{ name: "orphans", summary: "also pods whose manifest is gone" }],
  async run(context, args) {
    const [reference, ...more] = args.words;
    if (more.length > 0) throw usageFailure("top takes one KIND, SCOPE or SCOPE/NAME");
    const read = async () => {
      const report = await findStats(context.api, reference, { orphans: args.on("orphans") });
      return { ...report, pods: report.pods.toSorted(busiestFirst) };
    };
    await requireRunning(reference, await read(), context);
    const size = context.rawTerminal.size();
    if (size === undefined || context.json) {
      const report = await read();
      return answer(context, report, () => {
        return report.pods.length === 0 ? "no running pods" : statsTable(report.pods, context.terminal);
      });
    }
    const look = async () => {
      const { pods } = await read();
      const text = pods.length === 0 ? "no running pods" : statsTable(pods, context.terminal);
      return { text, key: text };
    };
    return watch(context, { look, everyMs: context.limits.topMs });
  },
};

async function requireRunning(reference: string | undefined, { pods }: StatsReport, context: Context): Promise<void> {
  if (pods.length === 0) await requireNamed(reference, context);
}

function busiestFirst(a: Stats, b: Stats): number {
  return (
    b.usage.cpu_percent - a.usage.cpu_percent ||
    b.usage.memory_usage_bytes - a.usage.memory_usage_bytes ||
    a.container_name.localeCompare(b.container_name)
  );
}
