import { readableEmail } from "../../../base/pure/domain-names.ts";
import { listIdentityAudit } from "../../../identity/api/manage/audit.ts";
import { answer, type Command } from "../../shell/command.ts";
import { timeText } from "../../text/time-text.ts";
import { instanceFlag, instanceOf, moreText, pageFlags, table } from "./shared.ts";
import { rowsOf } from "../../shell/listing.ts";

export const auditCommand: Command = {
  name: "audit",
  summary: "show who did what in an instance, newest first",
  usage: ["identity audit [QUERY…] [--instance ID] [-n N]", "identity audit --global [-n N]"],
  lists: rowsOf("entries", "id"),
  detail: ["QUERY is tokens such as action:signin.*, user_id:UUID, created_at>2026-01-01."],
  flags: [
    instanceFlag,
    { name: "global", summary: "what belongs to no single instance: apps, deleted instances, global providers" },
    ...pageFlags,
  ],
  async run(context, args) {
    const query = {
      ...(args.on("global") ? { global: "true" } : { instance: await instanceOf(context, args) }),
      query: args.words.length === 0 ? undefined : args.words.join(" "),
      limit: args.value("limit"),
      cursor: args.value("cursor"),
    };
    const data = await context.api.call(listIdentityAudit, { query });
    return answer(context, data, () => {
      if (data.entries.length === 0) return "nothing is on record";
      const rows = data.entries.map(({ at, actor, action, email, ip_address, detail }) => {
        const more = Object.keys(detail).length === 0 ? "" : JSON.stringify(detail);
        return [timeText(at), actor, action, readableEmail(email ?? "-"), ip_address ?? "-", more];
      });
      return `${table(["TIME", "ACTOR", "ACTION", "EMAIL", "IP", "DETAIL"], rows, context)}${moreText(data.next)}`;
    });
  },
};
