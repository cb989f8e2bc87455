import { type AccessEntry, listAccess } from "../../ingress/api/access-log.ts";
import { answer, type Command, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { accessText } from "../text/access-text.ts";

export const accessCommand: Command = {
  name: "logs",
  summary: "show the access log of ingresses with access_log: all or sampled",
  usage: ["ingress logs [SCOPE|SCOPE/NAME] [-f] [--status 5xx] [--id REQUEST_ID] [--limit N]"],
  examples: [
    "ingress logs shop/web -f  go on with new requests",
    "ingress logs --status 5xx  failed requests",
    "ingress logs --id 5dad2c1e  the request of an error page, by the id that the page shows",
  ],
  detail: ["access_log is off by default. sampled writes a few requests of each second, and every 5xx."],
  flags: [
    { name: "follow", short: "f", summary: "go on with new requests" },
    { name: "status", value: "STATUS", summary: "only of this status: 404, or 5xx for a class" },
    { name: "id", value: "REQUEST_ID", summary: "only the request with this X-Berth-Request-Id" },
    { name: "limit", short: "n", value: "N", summary: "at most this many (100)" },
  ],
  async run(context, args) {
    const [ingress, ...more] = args.words;
    if (more.length > 0) throw usageFailure("ingress logs takes one SCOPE or SCOPE/NAME");
    const query = { ingress, status: args.value("status"), request_id: args.value("id"), limit: args.value("limit") };
    const data = await context.api.call(listAccess, { query });
    if (args.on("follow")) return follow(context, query, data.entries);
    return answer(context, data, () => entriesText(data.entries, context) || none);
  },
};

const none = "no entries; ingresses with access_log: all or sampled write them";

/** Until Ctrl-C. With `-o json` an entry a line. */
async function follow(context: Context, query: Record<string, string | undefined>, first: readonly AccessEntry[]) {
  const { api, clock, limits, signal, terminal } = context;
  let entries = first;
  let after = 0;
  let isAway = false;
  while (!signal.aborted) {
    if (context.json) for (const entry of entries) terminal.out(JSON.stringify(entry));
    else if (entries.length > 0) terminal.out(entriesText(entries, context));
    after = entries.at(-1)?.seq ?? after;
    await terminal.flushed();
    await clock.sleep(limits.followMs, signal);
    if (signal.aborted) break;
    try {
      entries = (await api.call(listAccess, { query: { ...query, limit: "1000", after: String(after) } })).entries;
      isAway = false;
    } catch (error) {
      if (!(error instanceof CommandFailure) || error.exitCode !== exitCodes.unreachable) throw error;
      if (!isAway) terminal.note("the server does not answer, still trying");
      isAway = true;
      entries = [];
    }
  }
  return exitCodes.interrupted;
}

function entriesText(entries: readonly AccessEntry[], { terminal }: Context): string {
  return entries.map((entry) => accessText(entry, terminal.style)).join("\n");
}
