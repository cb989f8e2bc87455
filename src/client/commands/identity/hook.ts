import {
  createIdentityWebhook,
  deleteIdentityWebhook,
  listIdentityDeliveries,
  listIdentityWebhooks,
  updateIdentityWebhook,
} from "../../../identity/api/manage/webhooks.ts";
import { answer, type Command } from "../../shell/command.ts";
import { timeText } from "../../text/time-text.ts";
import { usageFailure } from "../../basics/failures.ts";
import { noWords, oneWord, present } from "../../shell/words.ts";
import { instanceFlag, instanceOf, table } from "./shared.ts";
import { rowsOf } from "../../shell/listing.ts";

export const hookCommands: readonly Command[] = [
  {
    name: "list",
    summary: "list the webhooks of an instance",
    usage: ["identity hook list [--instance ID]"],
    lists: rowsOf("hooks", "id"),
    flags: [instanceFlag],
    async run(context, args) {
      noWords(args);
      const query = { instance: await instanceOf(context, args) };
      const data = await context.api.call(listIdentityWebhooks, { query });
      return answer(context, data, () => {
        if (data.hooks.length === 0) return "no webhooks";
        const rows = data.hooks.map(({ id, url, events, enabled }) => {
          return [id, url, events.join(",") || "all", enabled ? "on" : "off"];
        });
        return table(["ID", "URL", "EVENTS", "STATE"], rows, context);
      });
    },
  },
  {
    name: "create",
    summary: "make a webhook; what signs its calls is shown once",
    usage: ["identity hook create URL [--instance ID] [--event EVENT]…"],
    flags: [instanceFlag, { name: "event", value: "EVENT", repeat: true, summary: "such as user.created (all)" }],
    async run(context, args) {
      const url = oneWord(args, "where to: one URL");
      const events = args.values("event");
      const body = events.length === 0 ? { url } : { url, events };
      const query = { instance: await instanceOf(context, args) };
      const data = await context.api.call(createIdentityWebhook, { query, body });
      return answer(context, data, () => `made webhook ${data.id}\nsigning secret ${data.secret}   shown once`);
    },
  },
  {
    name: "set",
    summary: "change where a webhook goes and what it hears, or turn it off and on",
    usage: ["identity hook set HOOK_ID [--instance ID] [--url URL] [--event EVENT]… [--off | --on]"],
    detail: ["--event all hears everything again. What waits while it is off goes out once it is on."],
    flags: [
      instanceFlag,
      { name: "url", value: "URL", summary: "another address" },
      { name: "event", value: "EVENT", repeat: true, summary: "in place of those before" },
      { name: "off", summary: "it hears nothing" },
      { name: "on", summary: "it hears again" },
    ],
    async run(context, args) {
      const hook = oneWord(args, "which webhook: its id");
      const [on, off] = [args.on("on"), args.on("off")];
      if (on && off) throw usageFailure("say --on or --off, not both");
      const events = args.values("event");
      const body = present({
        url: args.value("url"),
        events: events.length === 0 ? undefined : events.filter((event) => event !== "all"),
        enabled: on ? true : off ? false : undefined,
      });
      if (Object.keys(body).length === 0) throw usageFailure("say what to change: --url, --event, --on or --off");
      const query = { instance: await instanceOf(context, args) };
      const data = await context.api.call(updateIdentityWebhook, { params: { hook }, query, body });
      return answer(context, data, () => {
        const heard = data.events.join(", ") || "all events";
        return `webhook ${data.id} is ${data.enabled ? "on" : "off"}: ${heard} to ${data.url}`;
      });
    },
  },
  {
    name: "delete",
    summary: "delete a webhook with the record of its calls",
    usage: ["identity hook delete HOOK_ID [--instance ID]"],
    flags: [instanceFlag],
    async run(context, args) {
      const hook = oneWord(args, "which webhook: its id");
      const query = { instance: await instanceOf(context, args) };
      const data = await context.api.call(deleteIdentityWebhook, { params: { hook }, query });
      return answer(context, data, () => `deleted webhook ${hook}`);
    },
  },
  {
    name: "deliveries",
    summary: "show the calls of a webhook and what became of them, newest first",
    usage: ["identity hook deliveries HOOK_ID [--instance ID] [-n N]"],
    lists: rowsOf("deliveries", "id"),
    flags: [instanceFlag, { name: "limit", short: "n", value: "N", summary: "at most this many (50)" }],
    async run(context, args) {
      const hook = oneWord(args, "which webhook: its id");
      const query = { instance: await instanceOf(context, args), limit: args.value("limit") };
      const data = await context.api.call(listIdentityDeliveries, { params: { hook }, query });
      return answer(context, data, () => {
        if (data.deliveries.length === 0) return "no calls";
        const rows = data.deliveries.map(({ created_at, event, status, attempts, last_result }) => {
          return [timeText(created_at), event, status, String(attempts), last_result ?? "-"];
        });
        return table(["TIME", "EVENT", "STATUS", "TRIES", "RESULT"], rows, context);
      });
    },
  },
];
