import { unchecked } from "../../basics/unchecked.ts";
import { identityQuickstart, type Quickstart } from "../../../identity/api/manage/instances.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { usageFailure } from "../../basics/failures.ts";
import { listText } from "../../basics/table-text.ts";
import { noWords, present } from "../../shell/words.ts";

export const quickstartCommand: Command = {
  name: "quickstart",
  summary: "make an app with its keys and a sign-in page, and say how to use them",
  usage: ["identity quickstart --redirect URL [--app NAME] [--title TEXT] [--environment E] [--host H]"],
  flags: [
    { name: "redirect", value: "URL", repeat: true, summary: "where browsers are sent back to with a token" },
    { name: "app", value: "NAME", summary: "name of the app (one that is free)" },
    { name: "title", value: "TEXT", summary: "name on its pages and in its mails (that of the app)" },
    { name: "environment", value: "E", summary: "production, or development (where all URLs are on this machine)" },
    { name: "host", value: "HOST", summary: "host name that leads to its pages" },
  ],
  async run(context, args) {
    noWords(args);
    const redirects = args.values("redirect");
    if (redirects.length === 0) throw usageFailure("say where browsers come back to: --redirect URL");
    const fields = {
      app: args.value("app"),
      title: args.value("title"),
      environment: unchecked<"production" | "development" | undefined>(args.value("environment")),
      host: args.value("host"),
    };
    const body = { redirect_uris: redirects, ...present(fields) };
    const data = await context.api.call(identityQuickstart, { body });
    return answer(context, data, () => text(data, context));
  },
};

function text(made: Quickstart, { terminal: { style } }: Context): string {
  const rows = [
    ["app", made.app_id],
    ["instance", made.instance_id],
    ["secret key", `${made.secret_key}   ${style.yellow("shown once: keep it where your server reads its secrets")}`],
    ["publishable key", made.publishable_key],
    ["sign in", made.sign_in_url],
  ];
  return [
    listText(rows),
    "",
    "open the sign-in address in a browser, then verify the token that comes back:",
    "",
    `  ${verifyLine(made)}`,
    "",
    "sessions that last: exchange that token, refresh what comes, and sign out with it:",
    "",
    ...sessionLines(made).map((line) => `  ${line}`),
    "",
    style.dim("without a mail server, links of mails are shown by:"),
    style.dim(`  berth identity mail list --instance ${made.instance_id}`),
  ].join("\n");
}

/** A line for a shell; what stands in it needs no other quoting. */
function verifyLine({ verify_url, secret_key }: Pick<Quickstart, "verify_url" | "secret_key">): string {
  const headers = `-H 'X-Service-Secret-Key: ${secret_key}' -H 'Content-Type: application/json'`;
  return `curl -s ${verify_url} ${headers} -d '{"token":"TOKEN"}'`;
}

function sessionLines({ verify_url, publishable_key }: Quickstart): string[] {
  const sessions = verify_url.replace(/tokens\/verify$/, "sessions");
  const key = `-H 'X-Service-Publishable-Key: ${publishable_key}'`;
  const line = (path: string, field: string, value: string) =>
    `curl -s ${sessions}/${path} ${key} -d '{"${field}":"${value}"}'`;
  return [
    line("exchange", "token", "TOKEN"),
    line("refresh", "refresh_token", "REFRESH_TOKEN"),
    line("revoke", "refresh_token", "REFRESH_TOKEN"),
  ];
}
