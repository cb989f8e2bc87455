import { type Event, listEvents } from "../../orchestration/api/events.ts";
import type { Arguments } from "../basics/arguments.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { eventRows, withLastLines } from "../text/event-text.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { normalKind } from "../basics/kinds.ts";
import { requireNamed } from "../shell/named.ts";
import { parseReference } from "../basics/reference.ts";
import { listText, tableText } from "../basics/table-text.ts";
import { rowsOf } from "../shell/listing.ts";

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
