import type { Manifest } from "../../orchestration/api/manifest.ts";
import { listManifests } from "../../orchestration/api/apply.ts";
import { cancelRun, getRun, type JobRun, listRuns } from "../../orchestration/api/jobs.ts";
import { decodeSpec } from "../../orchestration/core/spec/decode.ts";
import { nextRun } from "../../orchestration/core/schedule.ts";
import type { Arguments } from "../basics/arguments.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { oneWord } from "../shell/words.ts";
import { shortDuration, timeText } from "../text/time-text.ts";
import { usageFailure } from "../basics/failures.ts";
import { requireNamed } from "../shell/named.ts";
import { parseReference } from "../basics/reference.ts";
import { followRun, startRun } from "../wait/run-follow.ts";
import { findJob } from "../wait/run-target.ts";
import { runTable, runText, statusText } from "../text/run-text.ts";
import { printable } from "../basics/style.ts";
import { didYouMean } from "../basics/suggest.ts";
import { tableText } from "../basics/table-text.ts";
import { tableSetup } from "./get.ts";
import { eitherOf, rowsOf, whenListing } from "../shell/listing.ts";

const actions = { list, run, history, show, cancel };

export const cronCommand: CommandBody = {
  usage: [
    "cron list [SCOPE]",
    "cron run SCOPE/NAME [--no-wait]",
    "cron history SCOPE/NAME [--limit N]",
    "cron show RUN",
    "cron cancel RUN",
  ],
  examples: [
    "cron list  schedules, last and next runs",
    "cron run shop/nightly  now, and wait for its end",
    "cron history shop/nightly  how the last runs went",
  ],
  detail: [
    "history, show and cancel know the runs of jobs too. A run by hand leaves the schedule as it is. In",
    "the history, missed means that the server could not start the run, skipped that another one ran.",
  ],
  flags: [
    { name: "no-wait", aliases: ["detach"], summary: "print the id of the run and do not wait" },
    { name: "limit", short: "n", value: "N", summary: "at most this many (100)" },
  ],
  lists: whenListing("list history", eitherOf(rowsOf("runs", "run_id"), rowsOf("", "scope", "name"))),
  async run(context, args) {
    const [verb = "", ...words] = args.words;
    const action = Object.entries(actions).find(([name]) => name === verb)?.[1];
    if (action !== undefined) return action({ words, args, context });
    if (verb === "") throw usageFailure(`say what to do: ${Object.keys(actions).join(", ")}`);
    throw usageFailure(`unknown command "cron ${verb}"${didYouMean(verb, Object.keys(actions))}`);
  },
};

interface Call {
  words: string[];
  args: Arguments;
  context: Context;
}

function only(words: string[], what: string): string {
  const word = oneWord({ words }, `which: one ${what}`);
  return word;
}

async function list({ words, context }: Call): Promise<number> {
  const { word, scope, name } = words.length === 0 ? {} : parseReference(only(words, "SCOPE"));
  const query = { kind: "cronjob", scope: scope ?? word, name };
  const manifests = await context.api.call(listManifests, { query });
  if (manifests.length === 0) await requireNamed(words[0], context);
  const { runs } = await context.api.call(listRuns, {
    query: { kind: "cronjob", scope: scope ?? word, limit: "1000" },
  });
  return answer(context, manifests, () => cronTable(manifests, runs, context));
}

function cronTable(manifests: readonly Manifest[], runs: readonly JobRun[], context: Context): string {
  if (manifests.length === 0) return "no cron jobs";
  const { style, width, now } = tableSetup(context);
  const rows = manifests.map(({ scope = "", name, spec }) => {
    const last = runs.find((one) => one.scope === scope && one.name === name);
    const { expression, timezone } = decodeSpec("cronjob", spec);
    const status = last === undefined ? "-" : statusText(last, style);
    return [
      `${scope}/${name}`,
      printable(expression),
      printable(timezone),
      nextText(spec, now),
      lastText(last),
      status,
    ];
  });
  return tableText([["NAME", "SCHEDULE", "TIMEZONE", "NEXT", "LAST", "RESULT"], ...rows], { width, head: style.dim });
}

function nextText(spec: Manifest["spec"], now: number): string {
  const { expression, timezone, suspended } = decodeSpec("cronjob", spec);
  if (suspended) return "suspended";
  const next = nextRun(expression, timezone, now);
  return next === undefined ? "-" : `in ${shortDuration(next - now)}`;
}

function lastText(run: JobRun | undefined): string {
  const at = run?.started_at ?? run?.instant;
  return at === undefined ? "-" : timeText(at);
}

async function run({ words, args, context }: Call): Promise<number> {
  const begun = await startRun(context, await findJob(context.api, only(words, "SCOPE/NAME"), "cronjob"));
  if (!args.on("no-wait")) return followRun(context, begun);
  return answer(context, begun, () => begun.run_id);
}

async function history({ words, args, context }: Call): Promise<number> {
  const { kind, scope, name } = await findJob(context.api, only(words, "SCOPE/NAME"));
  const data = await context.api.call(listRuns, { query: { kind, scope, name, limit: args.value("limit") } });
  return answer(context, data, () =>
    data.runs.length === 0 ? "no runs yet" : runTable(data.runs, tableSetup(context)),
  );
}

async function show({ words, context }: Call): Promise<number> {
  const found = await context.api.call(getRun, {
    params: { id: only(words, "run; see: berth cron history SCOPE/NAME") },
  });
  return answer(context, found, () => runText(found, tableSetup(context)));
}

async function cancel({ words, context }: Call): Promise<number> {
  const ended = await context.api.call(cancelRun, {
    params: { id: only(words, "run; see: berth cron history SCOPE/NAME") },
  });
  return answer(context, ended, () => `run ${ended.run_id} ${ended.status}`);
}
