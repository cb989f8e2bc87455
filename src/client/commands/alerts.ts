import { acknowledgeAlert, getAlert, listAlertHistory, listAlerts } from "../../observability/api/alerts.ts";
import { answer, type Command, type CommandBody } from "../shell/command.ts";
import { exitCodes } from "../basics/failures.ts";
import { resourceReference } from "../basics/reference.ts";
import { alertsText, alertText, historyText } from "../text/alert-text.ts";
import { channelCommands } from "./alerts/channel.ts";
import { heartbeatCommand } from "./alerts/heartbeat.ts";
import { ruleCommands } from "./alerts/rule.ts";
import { oneWord, optionalWord, present } from "../shell/words.ts";
import { silenceCommands } from "./alerts/silence.ts";
import { rowsOf } from "../shell/listing.ts";

const which = "which alert: its id, as berth alerts shows it";

const commands: readonly Command[] = [
  {
    name: "list",
    summary: "list what fires and what is pending",
    usage: ["alerts list [SCOPE/NAME]"],
    lists: rowsOf("alerts", "id"),
    flags: [],
    groups: true,
    async run(context, args) {
      const text = optionalWord(args);
      const query = text === undefined ? {} : present(placeOf(text));
      const data = await context.api.call(listAlerts, { query });
      return answer(context, data, () => alertsText(data.alerts, data.blind, context));
    },
  },
  {
    name: "show",
    summary: "show one alert: what changed before, the last lines, what to type",
    usage: ["alerts show ID"],
    flags: [],
    async run(context, args) {
      const data = await context.api.call(getAlert, { params: { id: oneWord(args, which) } });
      return answer(context, data, () => alertText(data, context));
    },
  },
  {
    name: "ack",
    summary: "say that you work on it: no more reminders, the end is still reported",
    usage: ["alerts ack ID [-m NOTE]"],
    flags: [{ name: "message", short: "m", value: "NOTE", summary: "a word for the others" }],
    async run(context, args) {
      const body = present({ note: args.value("message") });
      const data = await context.api.call(acknowledgeAlert, {
        params: { id: oneWord(args, which) },
        body,
      });
      return answer(context, data, () => `acknowledged: ${data.title}`);
    },
  },
  {
    name: "history",
    summary: "list the alerts that fired, newest first",
    usage: ["alerts history [SCOPE/NAME] [--rule NAME] [--limit N]"],
    lists: rowsOf("alerts", "id"),
    flags: [
      { name: "rule", value: "NAME", summary: "only of this rule" },
      { name: "limit", short: "n", value: "N", summary: "at most this many (50)" },
    ],
    async run(context, args) {
      const text = optionalWord(args);
      const place = text === undefined ? {} : placeOf(text);
      const query = present({ ...place, rule: args.value("rule"), limit: args.value("limit") });
      const data = await context.api.call(listAlertHistory, { query });
      return answer(context, data, () => historyText(data.alerts, context));
    },
  },
  ...silenceCommands,
  noun("rules", "what alerts watch: the default pack, and your own rules", ruleCommands),
  noun("channels", "where alerts are sent to", channelCommands),
  heartbeatCommand,
];

/** Its first narrower command is what it does by itself. */
function noun(name: string, summary: string, narrower: readonly Command[]): Command {
  const [list] = narrower;
  return {
    name,
    summary,
    usage: [`alerts ${name}`],
    detail: [`berth alerts ${name} COMMAND --help says more.`],
    flags: [],
    commands: narrower,
    run: (context, args) => list?.run(context, args) ?? Promise.resolve(exitCodes.failed),
  };
}

function placeOf(text: string): { scope: string | undefined; name: string } {
  const { scope, name } = resourceReference(text);
  return { scope, name };
}

export const alertsCommand: CommandBody = {
  usage: ["alerts"],
  examples: [
    "alerts  what fires and what is pending",
    "alerts channels add phone ntfy https://ntfy.sh/TOPIC  alerts on a phone",
    "alerts silence shop/web --for 2h  hold messages back for a while",
  ],
  detail: ["berth alerts COMMAND --help says more."],
  flags: [],
  commands,
  run: (context, args) => commands[0]?.run(context, args) ?? Promise.resolve(exitCodes.failed),
};
