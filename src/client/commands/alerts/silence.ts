import { addSilence, deleteSilence, listSilences } from "../../../observability/api/alert-silences.ts";
import { answer, type Command } from "../../shell/command.ts";
import { usageFailure } from "../../basics/failures.ts";
import { matcherText, silencesText } from "../../text/alert-text.ts";
import { timeText } from "../../text/time-text.ts";
import { noWords, oneWord, optionalWord, present } from "../../shell/words.ts";
import { rowsOf } from "../../shell/listing.ts";

export const silenceCommands: readonly Command[] = [
  {
    name: "silence",
    summary: "hold messages back for a time, for example while you work on an app",
    usage: ["alerts silence [SCOPE/NAME] --for TIME [--rule NAME] [-m REASON]"],
    examples: [
      'alerts silence shop/web --for 2h -m "database is being moved"  all alerts about one app',
      "alerts silence 'shop/*' --for 30m  about all apps of a scope",
      "alerts silence --rule certificate --for 7d  of one rule",
    ],
    detail: ["What still fires when the silence ends is sent then."],
    flags: [
      { name: "for", value: "TIME", summary: "how long: 30m, 2h, 7d" },
      { name: "rule", value: "NAME", summary: "only alerts of this rule; * for any part" },
      { name: "severity", value: "SEVERITY", summary: "only alerts that are critical, warning or info" },
      { name: "message", short: "m", value: "REASON", summary: "why, for the others" },
    ],
    async run(context, args) {
      const app = optionalWord(args, "put a pattern in quotes");
      const span = args.value("for");
      if (span === undefined) throw usageFailure("say how long: --for 2h");
      const matcher = present({ app, rule: args.value("rule"), severity: args.value("severity") });
      const body = { matcher, for: span, ...present({ reason: args.value("message") }) };
      const data = await context.api.call(addSilence, { body });
      return answer(context, data, () => {
        const until = `silent until ${timeText(data.until)}: ${matcherText(data.matcher)}`;
        return `${until}\nend it sooner: berth alerts unsilence ${data.id}`;
      });
    },
  },
  {
    name: "silences",
    summary: "list the silences that hold",
    usage: ["alerts silences"],
    lists: rowsOf("silences", "id"),
    flags: [],
    async run(context, args) {
      noWords(args);
      const data = await context.api.call(listSilences);
      return answer(context, data, () => silencesText(data.silences, context));
    },
  },
  {
    name: "unsilence",
    summary: "end a silence",
    usage: ["alerts unsilence ID"],
    flags: [],
    async run(context, args) {
      const id = oneWord(args, "which silence: its id, as berth alerts silences shows it");
      const data = await context.api.call(deleteSilence, { params: { id } });
      return answer(context, data, () => `no longer silent: ${matcherText(data.matcher)}`);
    },
  },
];
