import { unchecked } from "../../basics/unchecked.ts";
import type { BodyOf } from "../../../base/wire/endpoint.ts";
import {
  channelTypes,
  deleteChannel,
  listAlertDeliveries,
  listChannels,
  putChannel,
  testChannel,
} from "../../../observability/api/alert-channels.ts";
import type { Arguments } from "../../basics/arguments.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { exitCodes, usageFailure } from "../../basics/failures.ts";
import { requireYes } from "../../shell/ask.ts";
import { printable } from "../../basics/style.ts";
import { channelsText, deliveriesText } from "../../text/alert-text.ts";
import { listed, noWords, oneWord, optionalWord, present, secretOf } from "../../shell/words.ts";
import { rowsOf } from "../../shell/listing.ts";

const types = channelTypes.join(", ");

const which = "which channel: its name, as berth alerts channels list shows it";

export const channelCommands: readonly Command[] = [
  {
    name: "list",
    summary: "list the channels, and how their last message went",
    usage: ["alerts channels list"],
    lists: rowsOf("channels", "name"),
    flags: [],
    async run(context, args) {
      noWords(args);
      const data = await context.api.call(listChannels);
      return answer(context, data, () => channelsText(data.channels, context));
    },
  },
  {
    name: "add",
    summary: "send alerts to a phone, a chat, mail or a webhook",
    usage: ["alerts channels add NAME TYPE TARGET… [--replace] [--min-severity SEVERITY] [--app GLOB…]"],
    examples: [
      "alerts channels add phone ntfy https://ntfy.sh/TOPIC  to the app of ntfy",
      "alerts channels add team slack https://hooks.slack.com/…  discord alike",
      "alerts channels add chat telegram --chat=-1001234 --token -  token from stdin",
      "alerts channels add post mail ana@example.com  over SMTP",
      "alerts channels add pager pagerduty --token -  key from stdin",
      "alerts channels add own webhook https://ops.example.com/a --token KEY  signed",
    ],
    detail: [
      `TYPE is one of ${types}.`,
      "TARGET is an address, for mail one or more mail addresses. What is secret is sealed in the store",
      "and never shown again. To change a channel, add it again with --replace.",
    ],
    flags: [
      { name: "token", value: "SECRET", summary: "token, routing key or signing secret; - reads it from stdin" },
      { name: "chat", value: "ID", summary: "of telegram: id of the chat, or @channel" },
      { name: "url", value: "URL", summary: "of telegram and pagerduty: another address of their API" },
      { name: "min-severity", value: "SEVERITY", summary: "critical, warning or info (info: all alerts)" },
      { name: "app", value: "GLOB", repeat: true, summary: "only these apps: shop/web, shop/*" },
      { name: "no-lines", summary: "messages do not carry the last lines of output of the app" },
      { name: "replace", summary: "change a channel of this name" },
    ],
    async run(context, args) {
      const [name, type, ...targets] = args.words;
      if (name === undefined || type === undefined)
        throw usageFailure("say a name and a type: alerts channels add NAME TYPE TARGET");
      const target = await targetOf(context, args, { type, targets });
      const body = {
        target: unchecked<BodyOf<typeof putChannel>["target"]>(target),
        min_severity: unchecked<BodyOf<typeof putChannel>["min_severity"]>(args.value("min-severity")),
        apps: listed(args, "app"),
        lines: args.on("no-lines") ? false : undefined,
      };
      if (!args.on("replace")) await requireFree(context, name);
      const data = await context.api.call(putChannel, { params: { name }, body });
      return answer(context, data, () =>
        printable(`alerts go to ${data.target} (${name}); try it: berth alerts channels test ${name}`),
      );
    },
  },
  {
    name: "test",
    summary: "send a test message now, and print what came of it",
    usage: ["alerts channels test NAME"],
    flags: [],
    async run(context, args) {
      const name = oneWord(args, which);
      const data = await context.api.call(testChannel, { params: { name } });
      const isThere = data.status === "delivered";
      answer(context, data, () =>
        printable(`${isThere ? "delivered" : "not delivered"}: ${data.result ?? "no result"}`),
      );
      return isThere ? exitCodes.done : exitCodes.failed;
    },
  },
  {
    name: "remove",
    summary: "remove a channel, with the messages that still wait for it",
    usage: ["alerts channels remove NAME"],
    flags: [],
    async run(context, args) {
      const name = oneWord(args, which);
      const data = await context.api.call(deleteChannel, { params: { name } });
      return answer(context, data, () => `channel ${name} is removed`);
    },
  },
  {
    name: "log",
    summary: "list the messages that were sent, newest first, and what came of them",
    usage: ["alerts channels log [NAME] [--limit N]"],
    lists: rowsOf("deliveries", "id"),
    flags: [{ name: "limit", short: "n", value: "N", summary: "at most this many (50)" }],
    async run(context, args) {
      const channel = optionalWord(args);
      const query = { channel, limit: args.value("limit") };
      const data = await context.api.call(listAlertDeliveries, { query });
      return answer(context, data, () => deliveriesText(data.deliveries, context));
    },
  },
];

/** A channel is how somebody learns of a failure: one that is there is not replaced by a name that was chosen twice. */
async function requireFree(context: Context, name: string): Promise<void> {
  const { channels } = await context.api.call(listChannels);
  const same = channels.find((channel) => channel.name === name);
  if (same === undefined) return;
  const text = `the channel ${name} exists and sends to ${printable(same.target)} (${same.type}): replace it?`;
  await requireYes(context, { text, yes: false, way: "add --replace" });
}

async function targetOf(
  context: Context,
  args: Arguments,
  { type, targets }: { type: string; targets: readonly string[] },
) {
  const token = await secretOf(context, args.value("token"));
  const url = args.value("url");
  const [first, ...more] = targets;
  if (type !== "mail" && more.length > 0)
    throw usageFailure(`"${more[0]}" is one word too many: ${type} takes one target`);
  switch (type) {
    case "webhook":
      return present({ type, url: first, secret: token });
    case "mail":
      return { type, to: targets };
    case "telegram":
      return present({ type, chat: args.value("chat") ?? first, token, url });
    case "pagerduty":
      return present({ type, key: token ?? first, url });
    case "ntfy":
      return present({ type, url: first, token });
    case "slack":
    case "discord":
      return present({ type, url: first });
    default:
      throw usageFailure(`unknown type of channel "${type}"; use one of ${types}`);
  }
}
