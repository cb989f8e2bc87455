import type { DataOf } from "../../base/wire/endpoint.ts";
import { type Event, listEvents } from "../../orchestration/api/events.ts";
import { type HistoryChange, listHistory, restoreHistory } from "../../orchestration/api/history.ts";
import type { Arguments } from "../basics/arguments.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { normalKind } from "../basics/kinds.ts";
import { parseReference } from "../basics/reference.ts";
import { printable } from "../basics/style.ts";
import { listText, tableText } from "../basics/table-text.ts";
import { fieldName } from "../facts/changes.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { rowsOf } from "../shell/listing.ts";
import { requireNamed } from "../shell/named.ts";
import { optionalWord, timeOf } from "../shell/words.ts";
import { eventRows, withLastLines } from "../text/event-text.ts";
import { appliedText, hasChanges, planText } from "../text/plan-text.ts";
import { timeText } from "../text/time-text.ts";
import { exitOf, timeoutOf, watch } from "../wait/follow.ts";
import { messageFlag, noBackupFlag, targetsOf } from "./apply.ts";

export const eventsCommand: CommandBody = {
  usage: ["events [SCOPE[/NAME]] [-f] [--kind KIND] [--limit N] [--after N]"],
  examples: ["events shop/web  what happened to one app", "events -f  go on with what happens later"],
  flags: [
    { name: "follow", short: "f", summary: "go on with what happens later" },
    { name: "kind", short: "k", value: "KIND", summary: "only of this kind" },
    { name: "limit", short: "n", value: "N", summary: "at most this many (100)" },
    { name: "after", value: "N", summary: "only those after this number: seq in -o json" },
  ],
  lists: rowsOf("events", "seq"),
  async run(context, args) {
    const [text, ...more] = args.words;
    if (more.length > 0) throw usageFailure("events takes one SCOPE or SCOPE/NAME");
    const query = queryOf(text, args);
    const data = await context.api.call(listEvents, { query });
    if (data.events.length === 0) await requireNamed(text, context);
    if (args.on("follow")) return followEvents(context, query, data.events);
    return answer(context, data, () => eventsText(data.events, context));
  },
};

interface Query {
  kind: string | undefined;
  scope: string | undefined;
  name: string | undefined;
  limit: string | undefined;
  after: string | undefined;
}

function queryOf(text: string | undefined, args: Arguments): Query {
  const reference = text === undefined ? undefined : parseReference(text);
  const kind = args.value("kind") ?? reference?.kind;
  return {
    kind: kind === undefined ? undefined : normalKind(kind),
    scope: reference?.scope ?? reference?.word,
    name: reference?.name,
    limit: args.value("limit"),
    after: args.value("after"),
  };
}

/** Until Ctrl-C. With `-o json` an event a line. */
async function followEvents(context: Context, query: Query, first: readonly Event[]): Promise<number> {
  const { terminal, clock, limits, signal } = context;
  show(context, first, true);
  let after = lastSeq(first, query.after ?? "0");
  let away = false;
  while (!signal.aborted) {
    await terminal.flushed();
    await clock.sleep(limits.followMs, signal);
    const page = await nextPage(context, { ...query, limit: undefined, after });
    if (page === undefined && !away) terminal.note("the server does not answer, still trying");
    away = page === undefined;
    show(context, page ?? [], false);
    after = lastSeq(page ?? [], after);
  }
  return exitCodes.interrupted;
}

/** Undefined while the server is away. */
async function nextPage({ api, signal }: Context, query: Query): Promise<Event[] | undefined> {
  if (signal.aborted) return [];
  try {
    return (await api.call(listEvents, { query })).events;
  } catch (error) {
    if (signal.aborted) return [];
    if (error instanceof CommandFailure && error.exitCode === exitCodes.unreachable) return undefined;
    throw error;
  }
}

function lastSeq(events: readonly Event[], before: string): string {
  const last = events.at(-1);
  return last === undefined ? before : String(last.seq);
}

function show(context: Context, events: readonly Event[], first: boolean): void {
  const { terminal, json } = context;
  if (json) for (const event of events) terminal.out(JSON.stringify(event));
  else if (first) terminal.out(eventsText(events, context));
  else if (events.length > 0) {
    terminal.out(withLastLines(listText(eventRows(events), { width: terminal.width }).split("\n"), events));
  }
}

function eventsText(events: readonly Event[], { terminal }: Context): string {
  if (events.length === 0) return "no events";
  const head = ["TIME", "WHO", "WHAT", "ON", "DETAIL"];
  const table = tableText([head, ...eventRows(events)], { width: terminal.width, head: terminal.style.dim });
  const [first = "", ...rows] = table.split("\n");
  return `${first}\n${withLastLines(rows, events)}`;
}

export const historyCommand: CommandBody = {
  usage: ["history [SCOPE | SCOPE/NAME] [--kind KIND] [--limit N] [--before N]"],
  examples: [
    "history shop  what was wanted in a scope: when, who, why, newest first",
    "history shop/web  of one app, also of one that was deleted",
  ],
  detail: [
    "berth diff --at TIME shows what is different since; berth restore --manifests --at TIME goes back.",
    "Deleted apps are in it. It holds manifests and blocks of plugins; config, secrets of plugins, users and",
    "the data of volumes are not in it. The oldest changes go first; the last line says where it begins.",
  ],
  flags: [
    { name: "kind", short: "k", value: "KIND", summary: "only of this kind" },
    { name: "limit", short: "n", value: "N", summary: "at most this many (100)" },
    { name: "before", value: "N", summary: "only changes before this number: seq in -o json" },
  ],
  lists: rowsOf("changes", "seq"),
  async run(context, args) {
    const text = optionalWord(args, "history takes one SCOPE or SCOPE/NAME");
    const reference = text === undefined ? undefined : parseReference(text);
    const kind = args.value("kind") ?? reference?.kind;
    const data = await context.api.call(listHistory, {
      query: {
        kind: kind === undefined ? undefined : normalKind(kind),
        scope: reference?.scope ?? reference?.word,
        name: reference?.name,
        limit: args.value("limit"),
        before: args.value("before"),
      },
    });
    if (data.changes.length === 0) await requireNamed(text, context);
    return answer(context, data, () => historyText(data, context));
  },
};

function historyText({ begins, changes }: DataOf<typeof listHistory>, { terminal }: Context): string {
  if (begins === undefined) return "nothing was applied yet";
  const rows = changes.map((change) => [
    timeText(change.at),
    printable(change.actor),
    change.cause,
    change.outcome,
    [change.kind, change.scope, change.name].filter(Boolean).join("/"),
    printable(detailText(change)),
  ]);
  const head = ["TIME", "WHO", "WHY", "WHAT", "ON", "DETAIL"];
  const table = tableText([head, ...rows], { width: terminal.width, head: terminal.style.dim });
  return `${table}\n${terminal.style.dim(`the history begins at ${timeText(begins)}`)}`;
}

/** What somebody wrote about it, then the fields. */
function detailText({ why, changed = [], cause }: HistoryChange): string {
  const words = why === undefined ? [] : [cause === "delete" || cause === "restore" ? why : `"${why}"`];
  const fields = changed.length === 0 ? [] : [changed.map(fieldName).join(", ")];
  return [...words, ...fields].join("; ");
}

export const restoreManifestsCommand: CommandBody = {
  usage: [
    "restore FILE  (the whole state of a backup: berth restore FILE --help)",
    "restore --confirm | --undo  (after it)",
    "restore --manifests --at TIME [SCOPE | SCOPE/NAME] [-y] [--dry-run] [--no-wait]",
  ],
  examples: [
    'restore --manifests --at "2026-11-28 14:05" shop  a scope as it was wanted then',
    "restore --manifests --at 2026-11-28T14:05:00Z shop/web --dry-run  show the plan and stop",
  ],
  detail: [
    "Shows what would be created, changed and deleted, and asks; without a terminal it needs -y. Applies the",
    "manifests as they were wanted at TIME, whole or not at all, and deletes what was not wanted then; a",
    "deleted app comes back. If something is changed between plan and yes, nothing is written.",
    "Config and the data of volumes stay as they are now: berth backup restore brings volumes back.",
    "A TIME without a zone is yours. berth history lists the times.",
  ],
  flags: [
    { name: "manifests", summary: "go back to earlier manifests" },
    { name: "at", value: "TIME", summary: "the time to go back to" },
    messageFlag,
    yesFlag,
    { name: "dry-run", summary: "show the plan and stop" },
    noBackupFlag,
    { name: "reveal", summary: "show environment values in the plan instead of digests" },
    { name: "no-wait", aliases: ["detach"], summary: "do not wait until it is ready" },
    { name: "timeout", value: "TIME", summary: "how long to wait: 90s, 5m (default), 1h" },
  ],
  async run(context, args) {
    const { api, terminal, json } = context;
    const at = timeOf(args, "at");
    if (at === undefined && !args.on("manifests")) throw usageFailure("say what to restore: see berth restore --help");
    if (at === undefined) throw usageFailure('say the time to go back to: --at "2026-11-28 14:05"');
    if (!args.on("manifests"))
      throw usageFailure("add --manifests; volumes: berth backup restore SCOPE/NAME --at TIME");
    const text = optionalWord(args, "restore --manifests takes one SCOPE or SCOPE/NAME");
    const reference = text === undefined ? undefined : parseReference(text);
    if (reference?.kind !== undefined) throw usageFailure(`"${text}" has a kind: say SCOPE or SCOPE/NAME`);
    const no_backup = args.on("no-backup") ? "true" : undefined;
    const part = { at, scope: reference?.scope ?? reference?.word, name: reference?.name, no_backup };
    const timeoutMs = timeoutOf(args.value("timeout"), context);
    const plan = await api.call(restoreHistory, { query: { ...part, dry_run: "true" } });
    const told = (style: typeof terminal.style) =>
      `${text ?? "everything"} as it was wanted at ${timeText(plan.at)}\n${planText(plan, { style, reveal: args.on("reveal") })}`;
    if (args.on("dry-run")) return answer(context, plan, () => told(terminal.style));
    if (!json) terminal.out(told(terminal.style));
    else if (terminal.asks) terminal.note(told(terminal.noteStyle));
    if (!hasChanges(plan)) return json ? answer(context, plan, () => "") : exitCodes.done;
    await assent(`restore these manifests as of ${timeText(plan.at)}?`, args, context);
    const query = {
      ...part,
      expect: String(plan.newest),
      message: args.value("message"),
    };
    const result = await api.call(restoreHistory, { query });
    await answer(context, result, () => `\n${appliedText(plan)}`);
    if (args.on("no-wait")) return exitCodes.done;
    return exitOf(await watch(targetsOf(api, result, plan), timeoutMs, context));
  },
};
