import { type Event, listEvents } from "../../api/orchestration/events.ts";
import { answer, type Command, type Context } from "../command.ts";
import { timeText } from "../duration.ts";
import { exitCodes, usageFailure } from "../failures.ts";
import { normalKind } from "../kinds.ts";
import { parseReference } from "../reference.ts";
import { printable } from "../style.ts";
import { tableText } from "../table-text.ts";

export const eventsCommand: Command = {
  name: "events",
  summary: "show who did what, when and why",
  usage: ["events [SCOPE[/NAME]] [--kind KIND] [--limit N] [--after N]"],
  flags: [
    { name: "kind", short: "k", value: "KIND", summary: "only of this kind" },
    { name: "limit", short: "n", value: "N", summary: "at most this many (100)" },
    { name: "after", value: "N", summary: "those after this number, as -o json shows it in seq" },
  ],
  async run(context, args) {
    const [text, ...more] = args.words;
    if (more.length > 0) throw usageFailure("events takes one SCOPE or SCOPE/NAME");
    const reference = text === undefined ? undefined : parseReference(text);
    const kind = args.value("kind") ?? reference?.kind;
    const data = await context.api.call(listEvents, {
      query: {
        kind: kind === undefined ? undefined : normalKind(kind),
        scope: reference?.scope ?? reference?.word,
        name: reference?.name,
        limit: args.value("limit"),
        after: args.value("after"),
      },
    });
    answer(context, data, () => eventsText(data.events, context));
    return exitCodes.done;
  },
};

function eventsText(events: readonly Event[], { terminal }: Context): string {
  if (events.length === 0) return "no events";
  const rows = events.map((event) => {
    const reference = [event.kind, event.scope, event.name].filter(Boolean).join("/");
    return [timeText(event.at), event.actor, event.action, reference, detailText(event.detail)].map(printable);
  });
  const head = ["TIME", "WHO", "WHAT", "ON", "DETAIL"];
  return tableText([head, ...rows], { width: terminal.width, head: terminal.style.dim });
}

function detailText(detail: Event["detail"]): string {
  // Of something new every field is new.
  const shown = Object.entries(detail ?? {}).filter(([key]) => key !== "changed" || detail?.outcome !== "created");
  return shown.map(([key, value]) => `${key}=${valueText(value)}`).join(" ");
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}
