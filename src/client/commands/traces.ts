import { getTrace, listTraces } from "../../observability/api/traces.ts";
import { answer, type Command, type CommandBody } from "../shell/command.ts";
import { rowsOf } from "../shell/listing.ts";
import { tracesText, traceText } from "../text/trace-text.ts";
import { oneWord, optionalWord, present } from "../shell/words.ts";

const list: Command = {
  name: "list",
  summary: "list the traces that apps sent, newest first",
  usage: ["traces list [SCOPE[/NAME]] [--since TIME] [--min-duration TIME] [--error] [--text TEXT]"],
  flags: [
    { name: "since", value: "TIME", summary: "how far back: 10m, 2h, or a time" },
    { name: "until", value: "TIME", summary: "only traces that began before" },
    { name: "min-duration", value: "TIME", summary: "only traces that took at least this long: 250ms, 1s" },
    { name: "error", summary: "only traces with a span that failed" },
    { name: "text", value: "TEXT", summary: "only traces with TEXT in the name of a span" },
    { name: "limit", short: "n", value: "N", summary: "at most this many (50)" },
  ],
  groups: true,
  lists: rowsOf("traces", "trace_id"),
  async run(context, args) {
    const app = optionalWord(args);
    const query = present({
      app,
      since: args.value("since"),
      until: args.value("until"),
      min_duration: args.value("min-duration"),
      error: args.on("error") ? "true" : undefined,
      text: args.value("text"),
      limit: args.value("limit"),
    });
    const data = await context.api.call(listTraces, { query });
    return answer(context, data, () => tracesText(data, context));
  },
};

const commands: readonly Command[] = [
  list,
  {
    name: "show",
    summary: "show one trace: its spans as a tree, with when each began and how long it took",
    usage: ["traces show ID"],
    flags: [],
    async run(context, args) {
      const id = oneWord(args, "which trace: its id, as berth traces shows it");
      const data = await context.api.call(getTrace, { params: { id } });
      return answer(context, data, () => traceText(data, context));
    },
  },
];

export const tracesCommand: CommandBody = {
  usage: ["traces [SCOPE/NAME]"],
  examples: [
    "traces shop/web --error --since 1h  what failed in the last hour",
    "traces shop/web --min-duration 1s  what was slow",
    "traces show 5b8efff798038103d269b633813fc60c  one of them, span by span",
  ],
  detail: ["Apps with telemetry: true in their manifest send traces with an OpenTelemetry SDK."],
  flags: list.flags,
  groups: true,
  lists: rowsOf("traces", "trace_id"),
  commands,
  run: list.run,
};
