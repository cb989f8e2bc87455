import { appWhy } from "../../observability/api/incidents.ts";
import { why } from "../../orchestration/api/why.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
import { resourceQuery } from "../basics/reference.ts";
import { oneWord } from "../shell/words.ts";
import { readTroubles } from "../wait/troubles.ts";
import { troublesOf } from "../text/trouble-text.ts";
import { timelineText } from "../text/incident-text.ts";
import { whyText } from "../text/why-text.ts";
import { tableSetup } from "./get.ts";

const linesMax = 100;

export const whyCommand: CommandBody = {
  usage: ["why SCOPE/NAME [--timeline] [-n LINES] [--kind KIND]"],
  examples: ["why shop/web  what happened, and what to type next"],
  detail: [
    "Shows the last death (exit code, signal, memory, last lines of output, last probes), the last",
    "release that failed and where it went back to, and what was changed in the hour before. It names",
    "firing alerts and what visitors miss: failing requests, certificates, ports that are closed. For a",
    "job or cron job it shows the last run that failed, took too long or was missed; for an ingress, how",
    "it is served now and what it lacks. Deaths are kept when a resource is deleted.",
  ],
  flags: [
    { name: "lines", short: "n", value: "LINES", summary: "at most this many lines of output (100)" },
    {
      name: "kind",
      short: "k",
      value: "KIND",
      summary: "deployment, statefulset, job, cronjob or ingress, where several have the name",
    },
    { name: "timeline", short: "t", summary: "with one timeline of alerts, deploys, deaths, requests, lines" },
  ],
  async run(context, args) {
    const text = oneWord(args, "what to explain: one SCOPE/NAME");
    const lines = args.value("lines") ?? String(linesMax);
    if (!/^\d+$/.test(lines)) throw usageFailure(`--lines "${lines}" is not a whole number`);
    const data = await context.api.call(why, { query: resourceQuery(text, args.value("kind")) });
    const troubles = context.json ? [] : troublesOf(data, await readTroubles(context));
    const whole = () => whyText(data, { ...tableSetup(context), lines: Number(lines), troubles });
    if (!args.on("timeline")) {
      return answer(context, data, whole);
    }
    const params = { scope: data.scope, name: data.name };
    const timeline = await context.api.call(appWhy, { params, query: { kind: data.kind } });
    return answer(context, { ...data, timeline }, () => `${whole()}\n\n${timelineText(timeline, context)}`);
  },
};
