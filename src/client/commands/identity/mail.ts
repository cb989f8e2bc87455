import { getIdentityMail, listIdentityMails } from "../../../identity/api/manage/mails.ts";
import { answer, type Command } from "../../shell/command.ts";
import { timeText } from "../../text/time-text.ts";
import { noWords, oneWord } from "../../shell/words.ts";
import { instanceFlag, instanceOf, table } from "./shared.ts";
import { rowsOf } from "../../shell/listing.ts";

export const mailCommands: readonly Command[] = [
  {
    name: "list",
    summary: "list the mails of an instance, newest first, without their content",
    usage: ["identity mail list [--instance ID] [-n N]"],
    lists: rowsOf("mails", "id"),
    flags: [instanceFlag, { name: "limit", short: "n", value: "N", summary: "at most this many (50)" }],
    async run(context, args) {
      noWords(args);
      const query = { instance: await instanceOf(context, args), limit: args.value("limit") };
      const data = await context.api.call(listIdentityMails, { query });
      return answer(context, data, () => {
        if (data.mails.length === 0) return "no mails";
        const rows = data.mails.map(({ id, purpose, state, to, created_at, last_error }) => {
          return [id, purpose, to, state, timeText(created_at), last_error ?? "-"];
        });
        return table(["ID", "PURPOSE", "TO", "STATE", "TIME", "ERROR"], rows, context);
      });
    },
  },
  {
    name: "show",
    summary: "show a mail with its content: it may hold a link that signs somebody in",
    usage: ["identity mail show MAIL_ID [--instance ID]"],
    flags: [instanceFlag],
    async run(context, args) {
      const mail = oneWord(args, "which mail: its id");
      const query = { instance: await instanceOf(context, args) };
      const data = await context.api.call(getIdentityMail, { params: { mail }, query });
      return answer(context, data, () => `To: ${data.to}\nSubject: ${data.subject}\n\n${data.text}`);
    },
  },
];
