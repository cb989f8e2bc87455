import {
  beginRestore,
  listRestores,
  type PlannedRestore,
  planRestore,
  type Restore,
  type RestoreBody,
  undoRestore,
} from "../../../backups/api/restore.ts";
import { secondsText } from "../../../base/pure/duration.ts";
import { ApiError } from "../../../base/wire/client.ts";
import { haveEnded } from "../../../backups/api/protection.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { Arguments } from "../../basics/arguments.ts";
import { CommandFailure, usageFailure } from "../../basics/failures.ts";
import { printable } from "../../basics/style.ts";
import { tableText } from "../../basics/table-text.ts";
import { assent, yesFlag } from "../../shell/ask.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { rowsOf } from "../../shell/listing.ts";
import { noWords, optionalWord, scopeOrApp, timeOf } from "../../shell/words.ts";
import { untilEnded } from "../../wait/copies.ts";
import { bytesText } from "../../text/stats-table.ts";
import { spanText } from "../../text/protection-text.ts";
import { timeText } from "../../text/time-text.ts";

export const restoreCommand: Command = {
  name: "restore",
  summary: "bring back volumes, or files of them, from copies",
  usage: [
    "backup restore SCOPE[/NAME] (--in-place | --beside | --into FOLDER) [--at TIME]",
    "backup restore [--all | SCOPE[/NAME]]  (volumes and databases that are missing)",
    "backup restore --undo SCOPE/NAME",
  ],
  examples: [
    "backup restore shop/db --in-place  the newest copy takes the place of the data",
    "backup restore --undo shop/db  the data of before comes back",
    'backup restore shop/db --at "2026-11-28 14:05" --beside  into a new volume',
    "backup restore shop/web --path etc/app.conf --into /srv/found",
    "backup restore --all  after berth server restore: every volume and database that is missing",
  ],
  detail: [
    "The plan is shown first: what is replaced, by which copy, how large. A restore in place stops the",
    "app only to exchange the data once all of it is there, and keeps what it replaced for 7 days.",
    "--into is a folder of the server, readable by root alone. A TIME without a zone is yours.",
    "--all first waits for restores under way. Its exit code is 1 unless everything is back.",
  ],
  flags: [
    { name: "in-place", summary: "put the data in the place of what is there, which is kept" },
    { name: "beside", summary: "into a new volume of the scope, whose name is printed" },
    { name: "into", value: "FOLDER", summary: "into a new folder of the server" },
    { name: "path", value: "FILE", summary: "only this file or folder of the volume" },
    { name: "volume", value: "CLAIM", summary: "only this claim or volume of the app, or CLAIM/ORDINAL" },
    { name: "at", value: "TIME", summary: "the newest copy of this time or before (the newest)" },
    { name: "snapshot", value: "ID", summary: "this copy, as berth backup list shows it" },
    { name: "from", value: "TARGET", summary: "only copies at this target" },
    { name: "all", summary: "every volume that is missing, and databases of blocks" },
    { name: "undo", summary: "bring back what the last restore in place replaced" },
    yesFlag,
  ],
  async run(context, args) {
    const app = optionalWord(args, "name one app as SCOPE/NAME, or one SCOPE");
    if (args.on("undo")) return undo(context, args, app);
    if (app === undefined && !args.on("all")) throw usageFailure("name what to restore: SCOPE/NAME, SCOPE or --all");
    if (app !== undefined && args.on("all")) throw usageFailure(`--all is for every app: leave out "${app}"`);
    const body = bodyOf(args, app);
    if (args.on("all")) await ofEarlier(context);
    const plan = await context.api.call(planRestore, { body }).catch((error: unknown) => {
      if (args.on("all") && error instanceof ApiError && error.data.reason === "NothingMissing") return undefined;
      throw error;
    });
    if (plan === undefined) return answer(context, { restores: [] }, () => "no volume is missing, and no database");
    if (!context.json) context.terminal.note(planText(plan, context, body.at));
    await assent(questionOf(plan.volumes), args, context);
    // With this time it takes the copies that were shown, also where a newer one has come meanwhile.
    const begun = await context.api.call(beginRestore, { body: { ...body, at: body.at ?? plan.at } });
    return finished(context, begun.group, args.on("all") ? plan.uncopied : []);
  },
};

/** What was interrupted goes on in the server: its end comes before the plan of what is missing still. */
async function ofEarlier(context: Context): Promise<void> {
  const { restores } = await context.api.call(listRestores, {});
  const open = restores.filter((one) => !haveEnded([one]));
  if (open.length === 0) return;
  context.terminal.note(`waiting for ${counted(open.length, "restore")} under way`);
  const ids = new Set(open.map(({ id }) => id));
  const ended = await untilEnded(context, async () => {
    const found = (await context.api.call(listRestores, {})).restores.filter(({ id }) => ids.has(id));
    return haveEnded(found) ? found : undefined;
  });
  if (!context.json) context.terminal.note(ended.map(restoreText).join("\n"));
}

function bodyOf(args: Arguments, app: string | undefined): RestoreBody {
  const ways = [args.on("in-place") && "in_place", args.on("beside") && "beside", args.value("into") && "into"];
  const [way, another] = ways.filter((one) => one !== false && one !== undefined && one !== "");
  if (another !== undefined) throw usageFailure("choose one of --in-place, --beside and --into");
  return {
    ...scopeOrApp(app),
    volume: args.value("volume"),
    from: args.value("from"),
    at: timeOf(args, "at"),
    snapshot: args.value("snapshot"),
    way: way as RestoreBody["way"],
    into: args.value("into"),
    path: args.value("path"),
  };
}

function questionOf(volumes: readonly PlannedRestore[]): string {
  const replaced = volumes.filter(({ replaces }) => replaces).length;
  if (replaced === 0) return `restore ${counted(volumes.length, "volume")}?`;
  return `replace the data of ${counted(replaced, "volume")}? Its app stops for a moment.`;
}

function planText(plan: DataOf<typeof planRestore>, { terminal }: Context, at: string | undefined): string {
  const { volumes, unreachable, uncopied = [], seconds } = plan;
  const rows = volumes.map((one) => [one.what, timeText(one.at), one.target, bytesText(one.bytes), goesTo(one)]);
  const head = ["VOLUME", "COPY OF", "TARGET", "SIZE", "GOES TO"];
  const notes = volumes.flatMap(({ what, note }) =>
    note === undefined ? [] : [`${terminal.noteStyle.yellow(what)}: ${note}`],
  );
  const none = `missing, and no target has a copy of it${at === undefined ? "" : " of that time or before"}`;
  const lost = uncopied.map((what) => `${terminal.noteStyle.yellow(what)}: ${none}`);
  const faults = unreachable.map(({ target, why }) => `${terminal.noteStyle.red(target)}: ${printable(why)}`);
  return [
    tableText([head, ...rows], { head: terminal.noteStyle.dim, width: terminal.helpWidth }),
    ...(seconds === undefined ? [] : [`takes about ${spanText(seconds)}, as restores and drills from there took`]),
    ...notes,
    ...lost,
    ...faults,
  ].join("\n");
}

function goesTo(restore: PlannedRestore | Restore): string {
  const { way, volume = "", into = "", path, mount, fill } = restore;
  if (fill !== undefined) return fill === "WAL" ? "its pod, by WAL" : `backup ${fill}`;
  const part = path === undefined ? "" : `${printable(path)} in `;
  if (way === "into") return `${part}${printable(into)}`;
  if (way === "beside") return `new volume ${volume}, "${mount}" in manifests`;
  if (way !== "missing") return `${part}its place`;
  return "state" in restore && restore.state === "done" ? volume : `${volume}, which is missing`;
}

/** Until every volume has its data, or has failed. Fails where not all is back; `uncopied` cannot come back. */
async function finished(context: Context, group: string, uncopied: readonly string[] = []): Promise<number> {
  const said = new Map<string, string>();
  const data = await untilEnded(context, async () => {
    const found = await context.api.call(listRestores, { query: { group } });
    for (const restore of context.json ? [] : found.restores) {
      const text = fetchedText(restore);
      if (text !== undefined && said.get(restore.id) !== text) context.terminal.note(`${restore.what}  ${text}`);
      if (text !== undefined) said.set(restore.id, text);
    }
    return haveEnded(found.restores) ? found : undefined;
  });
  await answer(context, data, () => data.restores.map(restoreText).join("\n"));
  const failed = data.restores.filter(({ error }) => error !== undefined);
  const faults = [
    failed.length > 0 && `${failed.length} of ${counted(data.restores.length, "restore")} failed`,
    uncopied.length > 0 && `no copy brings these back: ${uncopied.map(printable).join(", ")}`,
  ].filter((fault) => fault !== false);
  if (faults.length > 0) throw new CommandFailure(faults.join("; "));
  return 0;
}

async function undo(context: Context, args: Arguments, app: string | undefined): Promise<number> {
  const [scope = "", name = "", ...more] = (app ?? "").split("/");
  if (scope === "" || name === "" || more.length > 0) throw usageFailure("name the app: --undo SCOPE/NAME");
  await assent(
    `bring back the data of ${app} from before its last restore? What was written since goes.`,
    args,
    context,
  );
  const begun = await context.api.call(undoRestore, { body: { scope, name, volume: args.value("volume") } });
  return finished(context, begun.group);
}

export const restoresCommand: Command = {
  name: "restores",
  summary: "list restores under way and ended, newest first",
  usage: ["backup restores"],
  flags: [],
  lists: rowsOf("restores", "id"),
  async run(context, args) {
    noWords(args);
    const data = await context.api.call(listRestores, {});
    return answer(context, data, () =>
      data.restores.length === 0 ? "no restores yet" : data.restores.map(restoreText).join("\n"),
    );
  },
};

function restoreText(restore: Restore): string {
  const { what, at, target, state, error, started_at: begun, ended_at: ended, kept_until: kept, bytes, fill } = restore;
  const copy = `${bytesText(bytes)} of ${timeText(at)} from ${target}`;
  if (error !== undefined) return `${what}  ${state}: ${printable(error)}`;
  if (state === "undone") return `${what}  undone: the data of before the restore is back`;
  if (ended === undefined || state !== "done") {
    const there = restore.bytes_fetched === undefined ? "" : `${bytesText(restore.bytes_fetched)} of `;
    return `${what}  ${state}: ${there}${copy}`;
  }
  const took = `in ${secondsText(Date.parse(ended) - Date.parse(begun))}`;
  const undoable = kept === undefined ? "" : `; what it replaced is kept until ${timeText(kept)}`;
  const place = fill === undefined ? `into ${goesTo(restore)}` : `by ${fill === "WAL" ? fill : `the backup ${fill}`}`;
  return `${what}  restored ${copy} ${took} ${place}${undoable}`;
}

/** How far a fetch is, in words that change at each tenth of it. */
function fetchedText({ bytes, bytes_fetched: there = 0 }: Restore): string | undefined {
  const tenths = Math.floor((10 * there) / Math.max(1, bytes));
  return tenths === 0 ? undefined : `fetching: ${tenths * 10} % of ${bytesText(bytes)}`;
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
