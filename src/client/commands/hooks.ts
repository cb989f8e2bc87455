import { type WebhookDelivery, listDeliveries } from "../../orchestration/api/webhooks.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { timeText } from "../text/time-text.ts";
import { usageFailure } from "../basics/failures.ts";
import { resourceQuery } from "../basics/reference.ts";
import { printable } from "../basics/style.ts";
import { tableText } from "../basics/table-text.ts";
import { rowsOf, whenListing } from "../shell/listing.ts";

export const hooksCommand: CommandBody = {
  usage: ["hooks list SCOPE/NAME [--kind KIND] [--limit N]", "hooks secret [--root DIR]"],
  examples: [
    "hooks list shop/web  the last calls and their responses",
    "hooks secret  on the server: the signing secret",
  ],
  detail: ["list shows the newest first. secret works on the server only."],
  flags: [
    { name: "kind", short: "k", value: "KIND", summary: "deployment or statefulset, where both have the name" },
    { name: "limit", short: "n", value: "N", summary: "at most this many (50)" },
  ],
  lists: whenListing("list", rowsOf("deliveries", "id")),
  async run(context, args) {
    const [verb, text, ...more] = args.words;
    if (verb !== "list" || text === undefined || more.length > 0) {
      throw usageFailure("say what to show: hooks list SCOPE/NAME");
    }
    const query = { ...resourceQuery(text, args.value("kind")), limit: args.value("limit") };
    const data = await context.api.call(listDeliveries, { query });
    return answer(context, data, () => deliveriesText(data.deliveries, context));
  },
};

function deliveriesText(deliveries: readonly WebhookDelivery[], { terminal }: Context): string {
  if (deliveries.length === 0) return "no webhook calls";
  const rows = deliveries.map((call) => {
    const { created_at, event, status, attempts, last_result = "-", method, url } = call;
    return [timeText(created_at), event, status, String(attempts), last_result, `${method} ${url}`].map(printable);
  });
  const head = ["TIME", "EVENT", "STATUS", "TRIES", "RESULT", "CALL"];
  return tableText([head, ...rows], { width: terminal.width, head: terminal.style.dim });
}
