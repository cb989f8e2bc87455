import { beginDrill, type Drill, listDrills } from "../../../backups/api/drills.ts";
import { CommandFailure, usageFailure } from "../../basics/failures.ts";
import { printable, type Style } from "../../basics/style.ts";
import { tableText } from "../../basics/table-text.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { rowsOf } from "../../shell/listing.ts";
import { noWords, optionalWord } from "../../shell/words.ts";
import { drillText, spanText } from "../../text/protection-text.ts";
import { bytesText } from "../../text/stats-table.ts";
import { timeText } from "../../text/time-text.ts";

export const drillCommand: Command = {
  name: "drill",
  summary: "restore the newest copies into a closed place, and see whether the apps start there",
  usage: ["backup drill (SCOPE/NAME | SCOPE | --all)"],
  examples: ["backup drill shop  every protected app of the scope: they find each other by name"],
  detail: [
    "The server does this by itself each week. A restored app has its volumes, its environment and its",
    "image, and a network without a way out: it reaches neither what is live nor the machine. All of it is",
    "removed afterwards. Jobs, ingresses, webhooks and release commands of the app do not run.",
  ],
  flags: [{ name: "all", summary: "every protected app, one scope after the other" }],
  async run(context, args) {
    const app = optionalWord(args, "name one app as SCOPE/NAME, or one SCOPE");
    if ((app === undefined) !== args.on("all")) throw usageFailure("name what to drill: SCOPE/NAME, SCOPE or --all");
    const [scope, name, ...more] = app?.split("/") ?? [];
    if (scope === "" || name === "" || more.length > 0) throw usageFailure(`"${app}" is not SCOPE/NAME or SCOPE`);
    const { since, apps } = await context.api.call(beginDrill, { body: { scope, name } });
    return finished(context, since, apps);
  },
};

/** Until none of the apps is under way. */
async function finished(context: Context, since: string, apps: readonly string[]): Promise<number> {
  const { api, clock, signal, terminal } = context;
  for (;;) {
    const drills = (await api.call(listDrills, {})).drills.filter((drill) => apps.includes(drill.app));
    if (drills.every((drill) => drill.running_since === undefined)) {
      const ended = drills.filter(({ started_at: at = "" }) => at >= since);
      await answer(context, { drills: ended }, () => ended.map((one) => lineText(one, terminal.style)).join("\n"));
      const cut = apps.filter((name) => !ended.some((one) => one.app === name));
      if (cut.length > 0)
        throw new CommandFailure(`the drill of ${cut.join(", ")} was cut off: the server was stopped`);
      const bad = ended.filter(({ result }) => result === "failed" || result === "not_drilled");
      if (bad.length > 0) throw new CommandFailure(`${bad.length} of ${ended.length} drills did not succeed`);
      return 0;
    }
    await clock.sleep(lookMs, signal);
    signal.throwIfAborted();
  }
}

const lookMs = 500;

const lineText = (drill: Drill, style: Style) => `${drill.app}  ${drillText(drill, style)}`;

export const drillsCommand: Command = {
  name: "drills",
  summary: "list the last drill of each protected app: what a disaster would cost, and how long it takes",
  usage: ["backup drills"],
  flags: [],
  lists: rowsOf("drills", "app"),
  async run(context, args) {
    noWords(args);
    const data = await context.api.call(listDrills, {});
    const { style, width } = context.terminal;
    const rows = data.drills.map((one) => [
      one.app,
      one.running_since === undefined ? (one.result ?? "not yet").replace("_", " ") : "under way",
      one.ended_at === undefined ? "" : timeText(one.ended_at),
      spanText(one.recovery_point_seconds),
      spanText(one.recovery_seconds),
      one.bytes === undefined ? "" : bytesText(one.bytes),
      one.running_since === undefined && one.next_at !== undefined ? timeText(one.next_at) : "",
    ]);
    const head = ["APP", "RESULT", "ENDED", "COPY WAS", "READY IN", "SIZE", "NEXT"];
    const whys = data.drills.flatMap(({ app, why }) => (why === undefined ? [] : [`${app}: ${printable(why)}`]));
    return answer(context, data, () =>
      rows.length === 0
        ? "no app is protected yet: add `backup: {}` to a manifest"
        : [tableText([head, ...rows], { head: style.dim, width }), ...whys].join("\n"),
    );
  },
};
