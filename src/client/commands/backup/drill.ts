import { beginDrill, type Drill, listDrills } from "../../../backups/api/drills.ts";
import { beginRehearsal, listRehearsals, type Rehearsal, type RehearsedApp } from "../../../backups/api/rehearsals.ts";
import { CommandFailure, usageFailure } from "../../basics/failures.ts";
import { printable, type Style } from "../../basics/style.ts";
import { tableText } from "../../basics/table-text.ts";
import { answer, type Command, type CommandBody, type Context } from "../../shell/command.ts";
import { rowsOf } from "../../shell/listing.ts";
import { explained, fileFlag, formatFlag, manifestDetail, manifestsOf } from "../../shell/manifest-flags.ts";
import { noWords, optionalWord, scopeOrApp } from "../../shell/words.ts";
import { drillText, spanText } from "../../text/protection-text.ts";
import { bytesText } from "../../text/stats-table.ts";
import { untilEnded } from "../../wait/copies.ts";
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
    const { since, apps } = await context.api.call(beginDrill, { body: scopeOrApp(app) });
    return finished(context, since, apps);
  },
};

/** Until none of the apps is under way. */
async function finished(context: Context, since: string, apps: readonly string[]): Promise<number> {
  const drills = await untilEnded(context, async () => {
    const found = (await context.api.call(listDrills, {})).drills.filter((drill) => apps.includes(drill.app));
    return found.every((drill) => drill.running_since === undefined) ? found : undefined;
  });
  const ended = drills.filter(({ started_at: at = "" }) => at >= since);
  const { style } = context.terminal;
  await answer(context, { drills: ended }, () => ended.map((one) => lineText(one, style)).join("\n"));
  const cut = apps.filter((name) => !ended.some((one) => one.app === name));
  if (cut.length > 0) throw new CommandFailure(`the drill of ${cut.join(", ")} was cut off: the server was stopped`);
  const bad = ended.filter(({ result }) => result === "failed" || result === "not_drilled");
  if (bad.length > 0) throw new CommandFailure(`${bad.length} of ${ended.length} drills did not succeed`);
  return 0;
}

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

export const rehearseCommand: CommandBody = {
  usage: ["rehearse -f PATH…"],
  examples: ["rehearse -f app.yaml  does its release command get along with the data of today?"],
  detail: [
    "Starts the deployments and statefulsets of the files as they would be after an apply, on the newest",
    "copies of their volumes and beside the other protected apps of the scope, in a network without a way",
    "out. Release commands run first, then probes. All of it is removed; nothing live is touched, nothing",
    "is stored. Exits with 1 when an app failed, or could not be tried. A volume without a copy is empty:",
    "berth backup now makes a copy. An app that is built from source runs on its newest image: see berth",
    "build. Ingresses, jobs, assets and databases of plugins are not rehearsed.",
    "",
    ...manifestDetail,
  ],
  flags: [fileFlag, formatFlag],
  async run(context, args) {
    const set = await manifestsOf(args, context, "rehearse");
    const { id } = await explained(set, () => context.api.call(beginRehearsal, { body: set.manifests }));
    const ended = await endOf(context, id);
    await answer(context, ended, () => rehearsalText(ended, context.terminal.style));
    const own = ended.apps.filter(({ beside }) => !beside);
    const bad = own.filter(({ result }) => result === "failed" || result === "not_rehearsed");
    if (bad.length === 0) return 0;
    throw new CommandFailure(`${bad.length} of ${own.length} apps did not pass; nothing was changed`);
  },
};

function endOf(context: Context, id: string): Promise<Rehearsal> {
  return untilEnded(context, async () => {
    const found = (await context.api.call(listRehearsals, {})).rehearsals.find((one) => one.id === id);
    if (found === undefined) throw new CommandFailure("the rehearsal was cut off: the server was stopped");
    return found.ended_at === undefined ? undefined : found;
  });
}

function rehearsalText({ apps, left_out: left }: Rehearsal, style: Style): string {
  const rows = apps.toSorted((a, b) => Number(a.beside) - Number(b.beside));
  const lines = rows.map((one) => `${one.app}${one.beside ? " (beside it)" : ""}  ${rehearsedText(one, style)}`);
  return [...lines, ...left.map(({ ref, why }) => `${printable(ref)}  not rehearsed: ${printable(why)}`)].join("\n");
}

function rehearsedText(one: RehearsedApp, style: Style): string {
  const { result, why = "", release, empty = [], data_age_seconds: age } = one;
  if (result === "failed") return `${style.red("failed")}: ${printable(why)}${dataText(age, empty)}`;
  if (result === "not_rehearsed") return `${style.yellow("not rehearsed")}: ${printable(why)}`;
  const command = release === undefined ? "" : "its release command passed, ";
  const how =
    result === "passed" ? `passed: ${command}ready` : `started: ${command}it has no check that could prove it; up`;
  const took = one.seconds === undefined ? "" : ` in ${spanText(one.seconds)}`;
  return `${how}${took}${dataText(age, empty)}`;
}

function dataText(age: number | undefined, empty: readonly string[]): string {
  const copy = age === undefined ? "" : `, on data that was ${spanText(age)} old`;
  return empty.length === 0 ? copy : `${copy}, with nothing in ${printable(empty.join(", "))}: there is no copy`;
}
