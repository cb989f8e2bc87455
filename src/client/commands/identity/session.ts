import { readableEmail } from "../../../base/pure/domain-names.ts";
import { listIdentitySessions, revokeIdentitySession } from "../../../identity/api/manage/sessions.ts";
import { answer, type Command } from "../../shell/command.ts";
import { oneWord } from "../../shell/words.ts";
import { timeText } from "../../text/time-text.ts";
import { instanceFlag, instanceOf, moreText, pageFlags, table } from "./shared.ts";
import { rowsOf } from "../../shell/listing.ts";

export const sessionCommands: readonly Command[] = [
  {
    name: "list",
    summary: "list sessions by most recent sign-in, or those that a query finds",
    usage: ["identity session list [QUERY…] [--instance ID] [--user USER] [-n N]"],
    lists: rowsOf("sessions", "session_id"),
    detail: ["QUERY is tokens such as provider:github, ip_address:10.0.*, last_signin_at>2026-01-01."],
    flags: [
      instanceFlag,
      { name: "user", value: "USER", summary: "active sessions of a user: an id or an address" },
      ...pageFlags,
    ],
    async run(context, args) {
      const query = {
        instance: await instanceOf(context, args),
        user: args.value("user"),
        query: args.words.length === 0 ? undefined : args.words.join(" "),
        limit: args.value("limit"),
        cursor: args.value("cursor"),
      };
      const data = await context.api.call(listIdentitySessions, { query });
      return answer(context, data, () => {
        if (data.sessions.length === 0) return "no sessions";
        const rows = data.sessions.map((session) => [
          session.session_id,
          readableEmail(session.email),
          session.provider,
          session.ip_address,
          timeText(session.last_signin_at),
          session.active ? "active" : "revoked",
        ]);
        const head = ["ID", "EMAIL", "PROVIDER", "IP", "LAST SIGN-IN", "STATE"];
        return `${table(head, rows, context)}${moreText(data.next)}`;
      });
    },
  },
  {
    name: "revoke",
    summary: "end a session",
    usage: ["identity session revoke SESSION_ID [--instance ID]"],
    flags: [instanceFlag],
    async run(context, args) {
      const session = oneWord(args, "which session: its id");
      const query = { instance: await instanceOf(context, args) };
      const data = await context.api.call(revokeIdentitySession, { params: { session }, query });
      return answer(context, data, () => `ended session ${data.session_id} of ${readableEmail(data.email)}`);
    },
  },
];
