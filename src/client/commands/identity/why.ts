import { readableEmail } from "../../../base/pure/domain-names.ts";
import { type IdentityAuditEntry, listIdentityAudit } from "../../../identity/api/manage/audit.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { timeText } from "../../text/time-text.ts";
import { noWords } from "../../shell/words.ts";
import { instanceFlag, instanceOf, table } from "./shared.ts";

/** What goes wrong for users of an instance, as the audit trail calls it. */
const troubles = ["redirect.refused", "signin.fail", "hook.dropped"];
const shownMax = "20";

export const whyIdentityCommand: Command = {
  name: "why",
  summary: "show why sign-ins of an instance fail, newest first, and what to do",
  usage: ["identity why [--instance ID] [-n N]"],
  detail: [
    "Addresses to come back to that were refused, with the rule; sign-ins that failed; webhooks that",
    "were given up. Repeats are counted. identity audit shows everything else.",
  ],
  flags: [instanceFlag, { name: "limit", short: "n", value: "N", summary: `at most this many (${shownMax})` }],
  async run(context, args) {
    noWords(args);
    const instance = await instanceOf(context, args);
    const query = { instance, query: troubles.map((action) => `action:${action}`).join(" ") };
    const data = await context.api.call(listIdentityAudit, {
      query: { ...query, limit: args.value("limit") ?? shownMax },
    });
    return answer(context, data, () => whyText(data.entries, instance, context));
  },
};

function whyText(entries: readonly IdentityAuditEntry[], instance: string, context: Context): string {
  if (entries.length === 0) return "nothing has failed on record; berth identity audit shows what happened";
  const rows = entries.map(({ at, action, email, provider, ip_address, detail }) => {
    const { why, asked, times, last_at } = detail;
    const last = typeof last_at === "string" ? last_at : at;
    const what = [asked ?? (email && readableEmail(email)) ?? provider ?? "-", why ?? detail.result].filter(
      (part) => part !== undefined,
    );
    return [timeText(last), times === undefined ? "1" : String(times), action, ip_address ?? "-", what.join(": ")];
  });
  const list = table(["LAST", "TIMES", "WHAT", "IP", "WHY"], rows, context);
  const isRefused = entries.some(({ action }) => action === "redirect.refused");
  if (!isRefused) return list;
  const way = `berth identity instance set ${instance} --redirect URL   (once for each; the list is replaced)`;
  return `${list}\n\nto allow an address, exactly as the app sends it:\n  ${way}`;
}
