import type { Stats } from "../../api/orchestration/stats.ts";
import { answer, type CommandBody, type Context } from "../command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../failures.ts";
import { findStats, type StatsReport } from "../stats.ts";
import { statsTable } from "../stats-table.ts";

export const topCommand: CommandBody = {
  usage: ["top [KIND|SCOPE|SCOPE/NAME]"],
  detail: ["On a terminal it is drawn anew until Ctrl-C; else it is printed once."],
  flags: [{ name: "orphans", summary: "also pods whose manifest is gone" }],
  async run(context, args) {
    const [reference, ...more] = args.words;
    if (more.length > 0) throw usageFailure("top takes one KIND, SCOPE or SCOPE/NAME");
    const read = async () => {
      const report = await findStats(context.api, reference, { orphans: args.on("orphans") });
      return { ...report, pods: report.pods.toSorted(busiestFirst) };
    };
    const size = context.rawTerminal.size();
    if (size === undefined || context.json) {
      const report = await read();
      answer(context, report, () => statsTable(report.pods, context.terminal));
      return exitCodes.done;
    }
    return watch(context, read);
  },
};

function busiestFirst(a: Stats, b: Stats): number {
  return (
    b.usage.cpu_percent - a.usage.cpu_percent ||
    b.usage.memory_usage_bytes - a.usage.memory_usage_bytes ||
    a.container_name.localeCompare(b.container_name)
  );
}

const home = "\x1b[H";
const clearLine = "\x1b[K";
const clearBelow = "\x1b[J";

async function watch(context: Context, read: () => Promise<StatsReport>): Promise<number> {
  const { rawTerminal, clock, signal, limits } = context;
  const show = (text: string) => rawTerminal.stdout(Buffer.from(text));
  const leave = rawTerminal.enterScreen();
  try {
    while (!signal.aborted) {
      await show(screen(context, await frame(context, read)));
      await clock.sleep(limits.topMs, signal);
    }
  } finally {
    leave();
  }
  return exitCodes.done;
}

/** A server that is away for a moment does not end the watching. */
async function frame(context: Context, read: () => Promise<StatsReport>): Promise<string> {
  try {
    const { pods } = await read();
    return pods.length === 0 ? "no running pods" : statsTable(pods, context.terminal);
  } catch (error) {
    if (context.signal.aborted) return "";
    if (error instanceof CommandFailure && error.exitCode === exitCodes.unreachable) return error.message;
    throw error;
  }
}

function screen({ rawTerminal }: Context, text: string): string {
  const rows = rawTerminal.size()?.rows ?? 24;
  const lines = text.split("\n").slice(0, rows - 1);
  return `${home}${lines.map((line) => `${line}${clearLine}\n`).join("")}${clearBelow}`;
}
